/** The languages of the examples, with their names. */
export const exampleLanguages = {
  curl: "curl",
  typescript: "TypeScript",
  python: "Python",
} as const;
export type ExampleLanguage = keyof typeof exampleLanguages;

/** What the examples do. */
export const exampleTasks = ["read", "subtitles", "rename"] as const;
export type ExampleTask = (typeof exampleTasks)[number];

type Examples = Readonly<Record<ExampleTask, string>>;

/**
 * Returns programs that work as they are pasted, with an API key in HLUST_KEY. `origin` is the
 * address of the service, and `name` that of the transcript.
 */
export function examplesOf(
  origin: string,
  name: string,
): Readonly<Record<ExampleLanguage, Examples>> {
  const url = `${origin}/v1alpha1/${name}`;
  return { curl: curlOf(url), typescript: typescriptOf(url), python: pythonOf(url) };
}

const subtitles = "format=SRT&options.speakers=true&options.lineChars=42";

function curlOf(url: string): Examples {
  return {
    read: `curl --fail-with-body ${url} \\
  -H "Authorization: Bearer $HLUST_KEY"`,
    subtitles: `curl --fail-with-body -o transcript.srt \\
  "${url}:export?${subtitles}" \\
  -H "Authorization: Bearer $HLUST_KEY"`,
    rename: `curl --fail-with-body -X PATCH ${url} \\
  -H "Authorization: Bearer $HLUST_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"metadata": {"subject": "A new title"}}'`,
  };
}

const typescriptHeaders = "{ Authorization: `Bearer ${env.HLUST_KEY}` }";
const typescriptCheck =
  "if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);";

function typescriptOf(url: string): Examples {
  return {
    read: `// HLUST_KEY=hlust_... node read.mts
import { env } from "node:process";

interface Transcript {
  metadata: { speakers?: Record<string, { fullName?: string }> };
  segments: { startTime: string; speakerId?: string; words: { word: string }[] }[];
}

const response = await fetch("${url}", {
  headers: ${typescriptHeaders},
});
${typescriptCheck}
const { metadata, segments } = (await response.json()) as Transcript;
for (const { startTime, speakerId = "", words } of segments) {
  const speaker = metadata.speakers?.[speakerId]?.fullName ?? speakerId;
  console.log(startTime, speaker, words.map(({ word }) => word).join(""));
}
`,
    subtitles: `// HLUST_KEY=hlust_... node subtitles.mts
import { writeFile } from "node:fs/promises";
import { env } from "node:process";

const url = "${url}:export?${subtitles}";
const response = await fetch(url, {
  headers: ${typescriptHeaders},
});
${typescriptCheck}
await writeFile("transcript.srt", await response.text());
`,
    rename: `// HLUST_KEY=hlust_... node rename.mts
import { env } from "node:process";

const response = await fetch("${url}", {
  method: "PATCH",
  headers: {
    Authorization: \`Bearer \${env.HLUST_KEY}\`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify({ metadata: { subject: "A new title" } }),
});
${typescriptCheck}
const { metadata } = (await response.json()) as { metadata: { subject: string } };
console.log(metadata.subject);
`,
  };
}

const pythonBegin = `import os

import requests

headers = {"Authorization": f"Bearer {os.environ['HLUST_KEY']}"}`;

function pythonOf(url: string): Examples {
  return {
    read: `# HLUST_KEY=hlust_... python3 read.py
${pythonBegin}
response = requests.get("${url}", headers=headers, timeout=60)
response.raise_for_status()
transcript = response.json()
speakers = transcript["metadata"].get("speakers", {})
for segment in transcript["segments"]:
    speaker_id = segment.get("speakerId", "")
    speaker = speakers.get(speaker_id, {}).get("fullName", speaker_id)
    print(segment["startTime"], speaker, "".join(word["word"] for word in segment["words"]))
`,
    subtitles: `# HLUST_KEY=hlust_... python3 subtitles.py
${pythonBegin}
url = "${url}:export?${subtitles}"
response = requests.get(url, headers=headers, timeout=60)
response.raise_for_status()
with open("transcript.srt", "wb") as file:
    file.write(response.content)
`,
    rename: `# HLUST_KEY=hlust_... python3 rename.py
${pythonBegin}
response = requests.patch(
    "${url}",
    headers=headers,
    json={"metadata": {"subject": "A new title"}},
    timeout=60,
)
response.raise_for_status()
print(response.json()["metadata"]["subject"])
`,
  };
}
