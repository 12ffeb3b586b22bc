// The signed URL of an export as the <track> of a <video>, in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { cuesOfTrack } from "../fixtures/cues-of-track.ts";
import { speak } from "../fixtures/flite.ts";
import { openBrowser } from "../fixtures/open-browser.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { draftOf } from "../spec/transcripts.ts";
import { openPageServer } from "./page-server.ts";

const opened = new AsyncDisposableStack();
let browser: Browser;
before(async () => {
  browser = await openBrowser();
  opened.defer(() => browser.close());
});
after(() => opened.disposeAsync());

/** Creates a transcript with media; returns the signed URLs of its media and of its exports. */
async function createSigned(service: TestService) {
  const { json } = await service.call("POST", "/v1alpha1/transcripts", draftOf("Ávarp"));
  const upload = { resourceName: json.name };
  const { json: begun } = await service.call("POST", "/v1alpha1/initupload", upload);
  await fetch(begun.storageSignedUrl, { method: "PUT", body: speak("good day and welcome") });
  const { json: transcript } = await service.call("GET", `/v1alpha1/${json.name}`);
  const sign = async (format: string): Promise<string> =>
    (await service.call("POST", `/v1alpha1/${json.name}:signExport`, { format })).json.uri;
  const uri: string = transcript.uri;
  return { uri, popOn: await sign("VTT"), paintOn: await sign("VTT_PAINT_ON") };
}

/** Loads the cues of a track into a page with a video that plays the media. */
async function cuesIn(address: string, uri: string, track: string): Promise<unknown> {
  await using page = await browser.newPage();
  await page.goto(address);
  const video = `Object.assign(document.createElement("video"), {
    crossOrigin: "anonymous", muted: true, src: ${JSON.stringify(uri)} })`;
  await page.evaluate(`new Promise((resolve, reject) => {
    const video = ${video};
    video.onloadedmetadata = () => resolve();
    video.onerror = () => reject(new Error("the media was not loaded"));
    document.body.append(video);
  })`);
  return await page.evaluate(cuesOfTrack(track));
}

const popOn = [
  [0, 1, "góðan dag", []],
  [2, 3, "og velkomin", []],
];
const paintOn = [
  [0, 0.5, "góðan", []],
  [0.5, 2, "góðan dag", []],
  [2, 2.5, "góðan dag\nog", []],
];

test("a page of another origin that is allowed shows the track of a signed URL", async () => {
  // The page server is another origin: it has another port.
  await using page = await openPageServer("http://127.0.0.1:9");
  await using service = await openTestService({
    HLUST_ENGINE: "scripted",
    HLUST_ALLOWED_ORIGINS: page.address,
  });
  const signed = await createSigned(service);
  assert.notEqual(new URL(signed.popOn).origin, page.address);
  assert.deepEqual(await cuesIn(`${page.address}/page`, signed.uri, signed.popOn), popOn);
  const painted = await cuesIn(`${page.address}/page`, signed.uri, signed.paintOn);
  assert.ok(Array.isArray(painted));
  assert.deepEqual(painted.slice(0, 3), paintOn);
  const altered = signed.popOn.replace("/VTT?", "/VTT_POP_ON?");
  await assert.rejects(cuesIn(`${page.address}/page`, signed.uri, altered), /track was not loaded/);
});

test("a page of the service's own origin shows the track of a signed URL, and other origins are refused", async () => {
  await using service = await openTestService({ HLUST_ENGINE: "scripted" });
  await using proxied = await openPageServer(service.address);
  const signed = await createSigned(service);
  assert.deepEqual(await cuesIn(`${service.address}/healthz`, signed.uri, signed.popOn), popOn);
  // Behind a proxy, the page's origin is that of the proxy.
  const own = (url: string) => url.replace(service.address, proxied.address);
  assert.deepEqual(
    await cuesIn(`${proxied.address}/page`, own(signed.uri), own(signed.popOn)),
    popOn,
  );
  await assert.rejects(
    cuesIn(`${proxied.address}/page`, own(signed.uri), signed.popOn),
    /track was not loaded/,
  );
});
