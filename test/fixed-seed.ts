import "../script/bundled-packages.ts";
import fc from "fast-check";

/**
 * Loaded before every test file of `npm test`: properties try the same cases each time, so that a change is never refused for what
 * another one broke. PROPERTY_SEED, or a test file run by itself, tries others.
 */
fc.configureGlobal({ seed: Number(process.env["PROPERTY_SEED"] ?? 20_261_122) });
