// Generates a client from an OpenAPI document, as developers do: node generate-client.mjs DOCUMENT
// FOLDER. The generator needs the compiler API of TypeScript 5, which TypeScript 7 does not have.
import { registerHooks } from "node:module";
import process from "node:process";

registerHooks({
  resolve: (name, context, next) => next(name === "typescript" ? "typescript-api" : name, context),
});
const { createClient } = await import("@hey-api/openapi-ts");
const [input, path] = process.argv.slice(2);
await createClient({
  input,
  output: { path, importFileExtension: ".ts" },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
  logs: { level: "silent" },
});
