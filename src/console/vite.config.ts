import { join, resolve } from "node:path";
import { lighterLetters } from "./theme/lighter-letters.ts";
import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv } from "vite";

const root = import.meta.dirname;
/** The running service that `npm run console` shows the pages over. */
const { HLUST_SERVICE: service = "http://127.0.0.1:8080" } = loadEnv("", root, "HLUST_SERVICE");
const onward = { target: service, ws: true };

/**
 * What the service answers. Its own paths below /console/ are also those of folders here: modules
 * are no calls.
 */
const doors = [
  "^/console/(api/v[0-9]|session|sign-in([?]|$|/callback))",
  "^/(v[0-9]|media/|docs|openapi.json|healthz|readyz)",
];
/** Modules that the first page needs, whichever it is. */
const ofEveryPage =
  /node_modules\/(react|react-dom|scheduler|wouter|@tanstack\/(react-query|query-core))\/|src\/console\/(api|frame)\/|src\/console\/parts\/(announcer|button|chip|empty|note|page-head|problem-note|progress-line|rows)|src\/console\/text\/(common|counted|dates|language|numbers|problems)/;

/**
 * The console as one folder of files, built by script/build-console.ts, or served with hot reload
 * by `npm run console`.
 */
export default defineConfig({
  root,
  base: "/console/",
  plugins: [react(), lighterLetters()],
  // Nothing inline: the policy of the pages takes no data: but for pictures.
  build: {
    outDir: resolve(root, "../../dist/console"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2024",
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: {
        // What every page needs is one file: a dozen small ones compress worse, and each is an
        // answer of its own.
        codeSplitting: { groups: [{ name: "base", test: ofEveryPage, minShareCount: 2 }] },
      },
    },
  },
  server: {
    port: 5173,
    fs: { allow: [join(root, "../..")] },
    proxy: Object.fromEntries(doors.map((path) => [path, onward])),
  },
});
