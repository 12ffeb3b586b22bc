// An upload in several requests, while the service is killed again and again.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { until } from "../fixtures/until.ts";
import { fsckClean } from "./fsck-clean.ts";
import { startService, type ServiceProcess } from "./process.ts";

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "hlust-fault-"));
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const sizeBytes = 6_000_000;
const bytes = Buffer.from(
  Array.from({ length: sizeBytes }, (_, at) => (at * 31 + (at >> 8)) & 0xff),
);

/** Sends a request of the protocol tus; returns the status and Upload-Offset. */
async function call(
  { address, key }: ServiceProcess,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: Uint8Array<ArrayBuffer>,
): Promise<{ status: number; offset: number; location: string }> {
  const answer = await fetch(`${address}/v1alpha1/uploads${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "tus-resumable": "1.0.0", ...headers },
    ...(body && { body }),
  });
  return {
    status: answer.status,
    offset: Number(answer.headers.get("upload-offset")),
    location: answer.headers.get("location") ?? "",
  };
}

const part = (offset: number): Record<string, string> => ({
  "upload-offset": `${offset}`,
  "content-type": "application/offset+octet-stream",
});

test("an upload continues after kills of the service, with all bytes that HEAD has counted", async () => {
  const data = join(folder, "data");
  const environment = { HLUST_ENGINE: "scripted", HLUST_ROLE: "api" };
  let service = await startService(data, environment);
  const { location } = await call(service, "POST", "", { "upload-length": `${sizeBytes}` });
  const id = location.split("/").at(-1) ?? "";
  const partial = join(data, "media", "partial", id);
  const stored = (): number => statSync(partial, { throwIfNoEntry: false })?.size ?? 0;
  let counted = 0;
  for (let kill = 0; kill < 2; kill++) {
    const { offset } = await call(service, "HEAD", `/${id}`);
    assert.ok(offset >= counted, `${offset} bytes are left of ${counted}`);
    const end = offset + 1_000_000;
    const complete = await call(
      service,
      "PATCH",
      `/${id}`,
      part(offset),
      bytes.subarray(offset, end),
    );
    assert.deepEqual(complete, { status: 204, offset: end, location: "" });
    counted = end;
    // The next request is still sending when the service dies.
    const sending = request(`${service.address}/v1alpha1/uploads/${id}`, {
      method: "PATCH",
      headers: {
        authorization: `Bearer ${service.key}`,
        "tus-resumable": "1.0.0",
        "content-length": sizeBytes - end,
        ...part(end),
      },
    });
    sending.on("error", () => {});
    sending.write(bytes.subarray(end, end + 1_200_000));
    await until(async () => stored() > end);
    await service.crash();
    service = await startService(data, environment);
  }
  await using last = service;
  const { offset } = await call(last, "HEAD", `/${id}`);
  assert.ok(
    offset > counted,
    `${offset} bytes are left of ${counted}, and none of the last request`,
  );
  const rest = await call(last, "PATCH", `/${id}`, part(offset), bytes.subarray(offset));
  assert.deepEqual([rest.status, rest.offset], [204, sizeBytes]);
  const finished = readFileSync(join(data, "media", "finished", id.slice(-2), id));
  const digest = (all: Uint8Array): string => createHash("sha256").update(all).digest("hex");
  assert.equal(digest(finished), digest(bytes));
  await fsckClean(data);
});
