// Names of variables that are not settings: readConfig() as a whole, over given-settings.ts.
import { test } from "node:test";
import { readConfig } from "./config.ts";

test("readConfig() ignores the variables of other programs", () => {
  const names = [
    ["DATABASE_HOST", "DATABASE_PORT", "DATABASE_USER", "DATABASE_NAME", "DATABASE_PASSWORD"],
    ["DATABASE_SSL", "DATABASE_DSN", "DATABASE_URL_UNPOOLED", "DATABASE_URL_TEST", "DATABASE"],
    ["DB_URL", "DB_HOST", "TEST_DATABASE_URL", "PGDATABASE", "PGHOST", "PGSSLMODE", "REDIS_URL"],
    ["POSTGRES_URL", "POSTGRES_PASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
    ["AWS_REGION", "AWS_ENDPOINT_URL_S3", "AWS_S3_BUCKET", "S3_URL", "S3_HOST", "S3_KEY"],
    ["HOST_PORT", "HOST", "PORT", "HOSTNAME", "USER", "HOME", "PATH", "LANG", "TZ", "SHLVL"],
    ["KUBERNETES_SERVICE_HOST", "HLUST_TOKEN", "HLUST_VECTORS", "NODE_OPTIONS", "CI", "_"],
  ].flat();
  readConfig(Object.fromEntries(names.map((name) => [name, "x"])));
  // The setting itself is set, so the variable with the similar name belongs to another program.
  readConfig({ DATABASE_URL: "postgres://db/hlust", DATABASE_URL2: "postgres://db/other" });
  readConfig({ DATABASE_URI: "" });
});
