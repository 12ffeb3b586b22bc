import assert from "node:assert/strict";
import { openDatabase } from "../../src/database/database.ts";
import { createLog } from "../../src/std/log.ts";
import { noteSecret } from "../spec/secrets.ts";
import type { TestService } from "../spec/service.ts";
import { segmentsOf } from "./edited-transcript.ts";
import { createTranscript } from "./spoken-transcript.ts";

/** A title of 240 letters without a space. */
export const longTitle = "Donaudampfschifffahrt".repeat(12).slice(0, 240);
/** Arabic text, which is written from right to left. */
export const arabic = "مقابلة عن الفيضان";
/** Hebrew text, which is written from right to left. */
export const hebrew = "שלום לכולם";
/** Text of a transcript, which no other table has (spec/secrets.ts). */
const said = [
  ["S1", `صباح الخير جميعا ${"Kraftfahrzeughaftpflicht".repeat(10)}`],
  ["S2", "בוקר טוב לכולם"],
] as const;
/** Names of things other than transcripts. */
const longWord = "Rechtsschutzversicherung".repeat(5).slice(0, 100);
const arabicWord = "مفتاح";
/** The title of a job, which no other table has either. */
const longJob = "Lebensmittelverordnung".repeat(10);
/** A phrase of the vocabulary, which no other table has either. */
const longPhrase = "Arbeiterunfallversicherung".repeat(2);

/**
 * Fills the account of a service with role "api" with names that are hard to lay out, in every
 * field that a page of the console shows: long words, and scripts that are written from right to
 * left. Returns the paths of the pages that need an id.
 */
export async function fillAccount(
  service: TestService,
  media: Uint8Array<ArrayBuffer>,
): Promise<{ readonly transcript: string; readonly webhook: string; readonly shared: string }> {
  const make = async (path: string, body: object) => {
    const { status, json } = await service.call("POST", path, body);
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  };
  const common = {
    languageCode: "ar",
    fileType: "AUDIO",
    keywords: [longTitle.slice(0, 100), hebrew],
  };
  const speakers = { S1: { fullName: longTitle.slice(0, 100) }, S2: { fullName: hebrew } };
  const segments = segmentsOf(said);
  let transcript = "";
  for (const subject of [longTitle, arabic]) {
    const metadata = { ...common, subject, description: `${hebrew}\n${longTitle}`, speakers };
    transcript = await createTranscript(service, { metadata, segments }, media);
  }
  const metadata = { ...common, subject: longTitle, speakers };
  const binned = await createTranscript(service, { metadata, segments }, media);
  await make("/v1alpha1/transcripts:bin", { names: [binned] });
  const change = { segments: segmentsOf([["S1", `${said[0][1]}x`], said[1]]) };
  assert.equal((await service.call("PATCH", `/v1alpha1/${transcript}`, change)).status, 200);
  const { uri } = await make(`/v1alpha1/${transcript}/shares`, { note: longWord });
  for (const displayName of [longWord, arabicWord]) {
    const { secret } = await make("/v1/apiKeys", { displayName, scopes: ["speech"] });
    noteSecret(secret, "credential");
  }
  const email = `${"longaddress".repeat(5)}@${"example".repeat(8)}.is`;
  await make("/v1/members", { email, role: "VIEWER" });
  for (let at = 0; at < 8; at += 1) {
    await make("/v1/members", { email: `member${at}@example.is`, role: "MEMBER" });
  }
  for (const phrase of [longPhrase, "كلمة"]) {
    await make("/v2beta1/vocabularyPhrases", { phrase, languageCode: "ar" });
  }
  const url = `https://127.0.0.1:9/${longWord}${longWord}`;
  const { webhook, secret } = await make("/v1/webhooks", { url, displayName: longWord });
  noteSecret(secret, "credential");
  const jobs: string[] = [];
  for (const subject of [longJob, arabicWord, longJob, arabicWord]) {
    const metadata = { fileType: "AUDIO", languageCode: "is-IS", subject };
    const uri = "http://127.0.0.1:9/a.wav";
    const job = await make("/v1alpha1/transcriptjob:submit", { metadata, useUri: true, uri });
    jobs.push(job.name);
  }
  await failJob(service);
  assert.equal((await service.call("POST", `/v1alpha1/${jobs[1]}:cancel`, {})).status, 200);
  const account = { displayName: longWord };
  assert.equal((await service.call("PATCH", "/v1/account", account)).status, 200);
  return {
    transcript: `/${transcript}`,
    webhook: `/${webhook.name}`,
    shared: uri.replace(/^.*\/console/, ""),
  };
}

async function failJob(service: TestService): Promise<void> {
  const folder = `${service.dataFolder}/postgres`;
  await using parts = new AsyncDisposableStack();
  const { db } = parts.use(
    await openDatabase({ url: undefined, folder, log: createLog("silent") }),
  );
  await db
    .updateTable("transcript_job")
    .set({
      state: "ERROR",
      error: JSON.stringify({
        code: 3,
        message: "The recording was not found.",
        details: [{ reason: "MEDIA_NOT_FOUND" }],
      }),
    })
    .where("id", "=", db.selectFrom("transcript_job").select("id").orderBy("id").limit(1))
    .execute();
}
