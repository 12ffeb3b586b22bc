// `npm run console` starts a server that builds the pages from their sources, for use with a
// running service.
import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { createServer } from "vite";
import { openTestService } from "../spec/service.ts";

const root = resolve(import.meta.dirname, "../..");

test("the dev server serves sources, forwards calls to the service and reports changes", async () => {
  await using parts = new AsyncDisposableStack();
  const service = parts.use(await openTestService({ HLUST_ENGINE: "scripted", HLUST_ROLE: "api" }));
  process.env["HLUST_SERVICE"] = service.address;
  const vite = await createServer({
    configFile: join(root, "src/console/vite.config.ts"),
    logLevel: "silent",
    server: { host: "127.0.0.1" },
  });
  parts.defer(() => vite.close());
  await vite.listen();
  const origin = new URL(vite.resolvedUrls?.local[0] ?? "").origin;

  const page = await (await fetch(`${origin}/console/`)).text();
  assert.match(page, /\/console\/@vite\/client/);
  // This is a module of the pages, although its path begins like the paths of the service.
  const module = await fetch(`${origin}/console/api/call-api.ts`);
  assert.match(module.headers.get("content-type") ?? "", /javascript/);

  const call = { "sec-fetch-site": "same-origin", "x-hlust-console": "1" };
  const signedOut = await fetch(`${origin}/console/session`, { headers: call });
  assert.equal(signedOut.status, 200);
  assert.deepEqual(await signedOut.json(), { signInWays: ["apiKey"] });
  const signedIn = await fetch(`${origin}/console/session`, {
    method: "POST",
    headers: { ...call, origin, "content-type": "application/json" },
    body: JSON.stringify({ apiKey: service.key }),
  });
  assert.equal(signedIn.status, 200);
  const cookie = signedIn.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
  const account = await fetch(`${origin}/console/api/v1/account`, { headers: { ...call, cookie } });
  assert.equal(account.status, 200);

  // A changed file is reported to every open page over the hot reload socket.
  const { webSocketToken } = vite.config;
  const socket = new WebSocket(
    `${origin.replace("http", "ws")}/console/?token=${webSocketToken}`,
    "vite-hmr",
  );
  parts.defer(() => socket.close());
  const reported = Promise.withResolvers<void>();
  socket.addEventListener("message", ({ data }) => {
    if (String(data).includes('"connected"'))
      vite.watcher.emit("change", join(root, "src/console/theme/tokens.css"));
    if (/"(update|full-reload)"/.test(String(data))) reported.resolve();
  });
  socket.addEventListener("error", () => reported.reject(new Error("the socket was refused")));
  // Changes are reported only for modules that a page has loaded.
  await fetch(`${origin}/console/theme/tokens.css`, { headers: { accept: "text/css,*/*" } });
  await vite.environments.client.transformRequest("/theme/tokens.css");
  await reported.promise;
});
