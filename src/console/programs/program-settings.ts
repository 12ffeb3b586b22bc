import { programsText } from "../text/programs.ts";
import type { Phrase } from "../text/language.tsx";

/** What to paste into a program. */
export interface ProgramSettings {
  readonly name: string;
  readonly where: Phrase<string>;
  readonly paste: string;
}

/** Returns the addresses for programs that know OpenAI's protocol. */
export function openAiAddresses(origin: string) {
  return { plain: `${origin}/v1`, withLanguage: `${origin}/openai/is/v1` };
}

/**
 * Returns what to paste into each program that works with the service at this address
 * (docs/dialects.md). KEY stands for a key.
 */
export function programSettings(origin: string): readonly ProgramSettings[] {
  const { host, hostname, protocol } = new URL(origin);
  return [
    {
      name: "Open WebUI",
      where: programsText.openWebUi,
      paste: `AUDIO_STT_ENGINE=openai
AUDIO_STT_OPENAI_API_BASE_URL=${origin}/v1
AUDIO_STT_OPENAI_API_KEY=KEY
AUDIO_STT_MODEL=whisper-1`,
    },
    {
      name: "LibreChat",
      where: programsText.libreChat,
      paste: `speech:
  stt:
    openai:
      url: "${origin}/v1/audio/transcriptions"
      apiKey: "KEY"
      model: "whisper-1"`,
    },
    { name: "Nextcloud", where: programsText.nextcloud, paste: `${origin}/v1` },
    {
      name: "Subtitle Edit",
      where: programsText.subtitleEdit,
      paste: `${origin}/v1/audio/transcriptions`,
    },
    {
      name: "Bazarr",
      where: programsText.bazarr,
      paste: `${protocol}//hlust:KEY@${host}`,
    },
    {
      name: "Home Assistant",
      where: programsText.homeAssistant,
      paste: `Host: ${hostname}
Port: 10300`,
    },
    {
      name: "jambonz",
      where: programsText.jambonz,
      paste: `${origin.replace(/^http/, "ws")}/jambonz`,
    },
    {
      name: "Python",
      where: programsText.python,
      paste: `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="KEY")
with open("talk.mp3", "rb") as file:
    answer = client.audio.transcriptions.create(file=file, model="whisper-1", language="is")
print(answer.text)`,
    },
    {
      name: "JavaScript",
      where: programsText.typeScript,
      paste: `import { createReadStream } from "node:fs";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${origin}/v1", apiKey: "KEY" });
const file = createReadStream("talk.mp3");
const answer = await client.audio.transcriptions.create({ file, model: "whisper-1", language: "is" });
console.log(answer.text);`,
    },
    {
      name: "curl",
      where: programsText.terminal,
      paste: `curl ${origin}/v1/audio/transcriptions -H "Authorization: Bearer KEY" \\
  -F file=@talk.mp3 -F language=is -F response_format=srt`,
    },
  ];
}
