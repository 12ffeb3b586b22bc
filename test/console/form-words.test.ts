// What the service says of bad input in any form of the console has the console's words, in both
// languages. The forms are walked as the requests that they send.
import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import type { FieldViolation } from "../../src/console/api/api-error.ts";
import { formViolationText } from "../../src/console/text/form-violations.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

const source = resolve(import.meta.dirname, "../../src/console");

type Request = readonly [method: string, path: string, body: unknown];

let service: TestService;
/** The names of things that forms change. */
const made = { apiKey: "", limited: "", webhook: "", member: "", account: "", transcript: "" };

before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  const nameOf = async (path: string, body: object) =>
    (await service.call("POST", path, body)).json;
  made.apiKey = (await nameOf("/v1/apiKeys", {})).apiKey.name;
  const limited = { scopes: ["account"], limits: { requestsPerMinute: 500 } };
  made.limited = (await nameOf("/v1/apiKeys", limited)).secret;
  made.webhook = (await nameOf("/v1/webhooks", { url: "https://example.is/" })).webhook.name;
  made.member = (await nameOf("/v1/members", { email: "a@example.is", role: "VIEWER" })).name;
  made.account = (await service.call("GET", "/v1/account")).json.name;
  const { segments } = interview();
  made.transcript = await createTranscript(service, { metadata: interviewMetadata, segments });
});
after(async () => {
  await service[Symbol.asyncDispose]();
});

const bell = "nafn\u0007";
const long = "ð".repeat(10_001);
const year = 31_536_000_000;
const later = (ms: number) => new Date(Date.now() + ms).toISOString();

/** Public keys that are none, each in another way. */
function wrongKeys(): string[] {
  const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
  const short = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
  const { publicKey: curve } = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwk = publicKey.export({ format: "jwk" });
  return [
    "",
    "ekki lykill",
    "x".repeat(10_001),
    "{",
    "[]",
    '{"keys":[]}',
    '{"kty":"RSA"}',
    "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----",
    "-----BEGIN PRIVATE KEY-----",
    ...[short, curve].map(pem),
    ...[{ use: "enc" }, { alg: "ES256" }, { e: "AQAAAAAAAAE" }].map((more) =>
      JSON.stringify({ ...jwk, ...more }),
    ),
  ];
}

/** Requests with bad input, by the file whose form sends them. */
function walk(): Readonly<Record<string, readonly Request[]>> {
  const { apiKey, webhook, member, account, transcript } = made;
  const keyLimits = [{ requestsPerMinute: 9_999_999_999 }, { queuedJobs: 1_000_001 }];
  const names = [bell, "ð".repeat(201)];
  const metadata = { fileType: "AUDIO", languageCode: "is-IS" };
  const urls = [
    "",
    "ekki slóð",
    "ftp://a.is",
    "https://a b",
    "https://u:p@a.is",
    "http://10.0.0.1",
  ];
  const texts = ["a\0", long, "a\ud800"];
  return {
    "account/account-settings-form.tsx": [
      ...names.map((displayName) => ["PATCH", "/v1/account", { displayName }] as const),
      ["PATCH", "/v1/account", { mediaRetentionDays: 36_501, transcriptRetentionDays: 36_501 }],
      ["PATCH", "/v1/account", { mediaRetentionDays: 99_999_999_999 }],
      ["PATCH", "/v1/account", {}],
    ],
    "account/recording-defaults-form.tsx": [
      { languageCode: "íslenska" },
      { languageCode: "is-IS", model: bell },
      { languageCode: "is-IS", model: long },
      { phrases: ["", bell, "---", "ð".repeat(101), "a", "A"] },
      { phrases: Array.from({ length: 501 }, (_, index) => `orð ${index}`) },
    ].map((recordingDefaults) => ["PATCH", "/v1/account", { recordingDefaults }]),
    "account/invite.tsx": ["", "rangt", `${"a".repeat(255)}@example.is`, "ð@example.is"].map(
      (email) => ["POST", "/v1/members", { email, displayName: bell }],
    ),
    "account/change-role.tsx": [["PATCH", `/v1/${member}`, { email: "b@example.is" }]],
    "keys/new-api-key.tsx": [
      ...names.map((displayName) => ["POST", "/v1/apiKeys", { displayName }] as const),
      ["POST", "/v1/apiKeys", { scopes: ["allt"], expireTime: later(-year) }],
      ["POST", "/v1/apiKeys", { expireTime: "2027-02-30T00:00:00Z" }],
      ...keyLimits.map((limits) => ["POST", "/v1/apiKeys", { limits }] as const),
    ],
    "keys/new-client-key.tsx": wrongKeys().map((publicKey) => [
      "POST",
      "/v1/clientKeys",
      { publicKey },
    ]),
    "keys/edit-key.tsx": [
      ...names.map((displayName) => ["PATCH", `/v1/${apiKey}`, { displayName }] as const),
      ...keyLimits.map((limits) => ["PATCH", `/v1/${apiKey}`, { limits }] as const),
    ],
    "keys/rotate-key.tsx": [-year, year].map((ms) => [
      "POST",
      `/v1/${apiKey}:rotate`,
      { previousSecretExpireTime: later(ms) },
    ]),
    "operator/edit-limits.tsx": ["9007199254740993", "99999999999999999999", "-1"].map((value) => [
      "PATCH",
      `/v1/operator/${account}`,
      { ownLimits: { storedBytes: value, queuedJobs: value } },
    ]),
    "operator/models.tsx": ["", "../x"].map((model) => [
      "POST",
      "/v1/operator/modelTasks",
      { kind: "PULL", model },
    ]),
    "webhooks/edit-webhook.tsx": [
      ...urls.map((url) => ["POST", "/v1/webhooks", { url, eventTypes: ["x"] }] as const),
      ...names.map((displayName) => ["PATCH", `/v1/${webhook}`, { displayName }] as const),
    ],
    "vocabulary/edit-phrase.tsx": [
      ...["", bell, "---", "ð".repeat(101), "a\u200B", "😀"].map(
        (phrase) => ["POST", "/v2beta1/vocabularyPhrases", { phrase, weight: 21 }] as const,
      ),
      [
        "POST",
        "/v2beta1/vocabularyPhrases",
        { phrase: "a", languageCode: "", soundsLike: ["---"] },
      ],
    ],
    "vocabulary/import-phrases.tsx": [
      ["POST", "/v2beta1/vocabularyPhrases:import", { phrases: [] }],
      [
        "POST",
        "/v2beta1/vocabularyPhrases:import",
        { phrases: [{ phrase: "a" }, { phrase: "A" }] },
      ],
    ],
    "jobs/new-job.tsx": [
      ...urls.map(
        (uri) =>
          ["POST", "/v1alpha1/transcriptjob:submit", { metadata, useUri: true, uri }] as const,
      ),
      ...[...texts, "ð".repeat(1001)].map((text) => {
        const wrong = { ...metadata, subject: text, description: text, keywords: [text] };
        const body = { metadata: { ...wrong, languageCode: "sw" }, useUri: false };
        return ["POST", "/v1alpha1/transcriptjob:submit", body] as const;
      }),
    ],
    "transcript/aside/transcribe-again-dialog.tsx": [
      [
        "POST",
        "/v1alpha1/transcriptjob:submit",
        {
          transcript,
          metadata: { languageCode: "sw" },
          model: "ekkert",
          diarizationConfig: { enableSpeakerDiarization: true },
          speechContexts: [{ phrases: ["", bell, "---", "ð".repeat(101), "a", "A"] }],
        },
      ],
    ],
    "transcript/aside/details-form.tsx": texts.map((text) => [
      "PATCH",
      `/v1alpha1/${transcript}`,
      { metadata: { subject: text, description: text, keywords: [text] } },
    ]),
    "transcript/aside/speaker-row.tsx": texts.map((fullName) => [
      "PATCH",
      `/v1alpha1/${transcript}`,
      { metadata: { speakers: { "1": { fullName } } } },
    ]),
    "transcript/aside/share-dialog.tsx": [
      ["POST", `/v1alpha1/${transcript}/shares`, { note: "ð".repeat(1001), expireTime: later(-1) }],
      ["POST", `/v1alpha1/${transcript}/shares`, { expireTime: later(100 * year) }],
    ],
    "transcript/edit/saving/note-dialog.tsx": ["a\0", "ð".repeat(1001)].map((note) => [
      "PATCH",
      `/v1alpha1/${transcript}?updateMask=metadata.speakers&note=${encodeURIComponent(note)}`,
      {},
    ]),
  };
}

/** Forms that send nothing that can be refused for what is in their fields, and why. */
const others: Readonly<Record<string, string>> = {
  "account/retention-field.tsx": "a field of the account's form",
  "import/import-page.tsx": "its files have words of their own (import-words.test.ts)",
  "import/import-row.tsx": "a file of the import page",
  "jobs/new-job-details.tsx": "fields of the form for a job",
  "jobs/new-job-files.tsx": "fields of the form for a job",
  "jobs/new-job-url.tsx": "fields of the form for a job",
  "jobs/recognition-form.tsx": "fields of the forms for a job and for the account's defaults",
  "keys/key-fields.tsx": "fields of the forms for keys",
  "keys/limit-fields.tsx": "fields of the forms for keys",
  "keys/public-key-field.tsx": "a field of the form for client keys",
  "live/save-dialog.tsx": "its fields are those of the form for a job",
  "sign-in/link-form.tsx": "it says of a wrong address what it knows itself (sign-in.test.ts)",
  "sign-in/key-form.tsx": "a wrong key is a reason, which problem-words.test.ts tests",
  "transcript/edit/finding/find-panel.tsx": "it searches in the browser",
  "transcript/edit/keys/go-to-time.tsx": "it reads a time in the browser",
  "transcript/edit/speakers/speaker-palette.tsx": "its names are saved with the text",
  "transcript/finding/find-panel.tsx": "it searches in the browser",
  "transcripts/search-bar.tsx": "what is typed is quoted, and its length is limited",
  "transcripts/selection-bar.tsx": "its keyword is checked as those of the details are",
  "vocabulary/phrase-fields.tsx": "fields of the form for a phrase",
  "webhooks/webhook-fields.tsx": "fields of the form for a webhook",
};

test("every form of the console is walked here, or has a reason why not", () => {
  const forms = globSync("**/*.tsx", { cwd: source }).filter((file) =>
    /<TextInput|<form/.test(readFileSync(join(source, file), "utf8")),
  );
  const known = new Set([...Object.keys(walk()), ...Object.keys(others)]);
  assert.deepEqual(
    forms.filter((file) => !known.has(file)),
    [],
  );
  assert.deepEqual(
    Object.keys(others).filter((file) => !forms.includes(file)),
    [],
  );
});

const sentence = /^[\p{Lu}\d„“].*\S$/su;

/** Returns the violations of a response. */
function violationsIn(json: {
  readonly details?: readonly { readonly fieldViolations?: readonly FieldViolation[] }[];
}): readonly FieldViolation[] {
  return (json.details ?? []).flatMap(({ fieldViolations = [] }) => fieldViolations);
}

test("what the service refuses in a form is said in Icelandic, without a word of English", async () => {
  const unknown: string[] = [];
  for (const [file, requests] of Object.entries(walk())) {
    let found = 0;
    for (const [method, path, body] of requests) {
      const { status, json } = await service.call(method, path, body);
      const violations = violationsIn(json);
      if (status < 400) unknown.push(`${file} ${JSON.stringify(body).slice(0, 100)} is accepted`);
      found += violations.length;
      for (const { field, description } of violations) {
        const { is, en, detail } = formViolationText({ description });
        if (detail !== undefined) unknown.push(`${file} ${field}: ${description}`);
        assert.match(is, sentence, description);
        assert.match(en, sentence, description);
        assert.notEqual(is, en);
        assert.doesNotMatch(is, /\b(?:the|is|must|not|has|this|at most)\b/iu, description);
      }
    }
    if (found === 0) unknown.push(`${file} has no violations`);
  }
  assert.deepEqual(unknown, []);
});

test("a key with limits learns that a new key cannot have higher ones", async () => {
  const authorization = `Bearer ${made.limited}`;
  const body = { scopes: ["account"], limits: { requestsPerMinute: 501 } };
  const { json } = await service.call("POST", "/v1/apiKeys", body, { authorization });
  const [violation] = violationsIn(json);
  assert.equal(
    formViolationText(violation ?? assert.fail()).is,
    "Mest 500: það eru mörk lykilsins sem þú skráðir þig inn með.",
  );
});

test("a message that the console does not know has a general sentence, followed by the message", () => {
  assert.deepEqual(formViolationText({ description: "of a later version" }), {
    is: "Þjónustan tók ekki við þessu.",
    en: "The service did not accept this.",
    detail: "of a later version",
  });
});
