import { join, resolve } from "node:path";
import { subsetFonts } from "./theme/subset-fonts.ts";
import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv } from "vite";

const root = import.meta.dirname;
/** The running service that the pages of `npm run console` use. */
const { HLUST_SERVICE: service = "http://127.0.0.1:8080" } = loadEnv("", root, "HLUST_SERVICE");
const toService = { target: service, ws: true };

/**
 * The paths that the service handles. Below /console/ they are exact, because some module folders
 * have the same names.
 */
const servicePaths = [
  "^/console/(api/v[0-9]|session|sign-in([?]|$|/callback))",
  "^/(v[0-9]|media/|docs|openapi.json|healthz|readyz|startupz)",
];
/** Modules that every page needs. */
const ofEveryPage =
  /node_modules\/(react|react-dom|scheduler|wouter|@tanstack\/(react-query|query-core))\/|src\/console\/(api|frame)\/|src\/console\/parts\/(announcer|button|chip|empty|note|page-head|problem-note|progress-line|rows|load-|single-keys|use-page-used)|src\/console\/text\/(common|counted|dates|language|numbers|problems)/;

/**
 * Builds the console as one folder of files (script/build-console.ts), or serves it with hot reload
 * (`npm run console`).
 */
export default defineConfig({
  root,
  base: "/console/",
  plugins: [react(), subsetFonts()],
  // Assets are never inlined: the pages' policy allows data: URLs for images only.
  build: {
    outDir: resolve(root, "../../dist/console"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2024",
    rolldownOptions: {
      // The script of the API reference is an entry of its own (src/server/docs/console-parts.ts).
      input: { index: join(root, "index.html"), reference: join(root, "reference/main.ts") },
      checks: { pluginTimings: false },
      output: {
        // The modules that every page needs are in one file: a dozen small files compress worse,
        // and each requires a request.
        codeSplitting: { groups: [{ name: "base", test: ofEveryPage, minShareCount: 2 }] },
      },
    },
  },
  server: {
    port: 5173,
    fs: { allow: [join(root, "../..")] },
    proxy: Object.fromEntries(servicePaths.map((path) => [path, toService])),
  },
});
