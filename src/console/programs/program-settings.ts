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
  return [...ofRecordings(origin), ...ofLiveAudio(origin), ...ofCode(origin)];
}

/** Programs that send recordings, and commands of a home. */
function ofRecordings(origin: string): readonly ProgramSettings[] {
  const { hostname } = new URL(origin);
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
    { name: "n8n", where: programsText.n8n, paste: `${origin}/v1` },
    {
      name: "Subtitle Edit",
      where: programsText.subtitleEdit,
      paste: `${origin}/v1/audio/transcriptions`,
    },
    {
      name: "Bazarr",
      where: programsText.bazarr,
      paste: withKey(origin),
    },
    {
      name: "Home Assistant",
      where: programsText.homeAssistant,
      paste: `Host: ${hostname}
Port: 10300`,
    },
  ];
}

/** Programs for calls, meetings and voice agents. */
function ofLiveAudio(origin: string): readonly ProgramSettings[] {
  const socket = origin.replace(/^http/, "ws");
  return [
    {
      name: "LiveKit",
      where: programsText.liveKit,
      paste: `import { STT } from "@livekit/agents-plugin-deepgram";

const stt = new STT({ baseUrl: "${socket}", apiKey: "KEY", language: "is" });`,
    },
    {
      name: "Pipecat",
      where: programsText.pipecat,
      paste: `from pipecat.services.deepgram.stt import DeepgramSTTService

stt = DeepgramSTTService(
    api_key="KEY",
    base_url="${socket}",
    settings=DeepgramSTTService.Settings(language="is"),
)`,
    },
    {
      name: "Jitsi",
      where: programsText.jitsi,
      paste: `org.jitsi.jigasi.ENABLE_TRANSCRIPTION=true
org.jitsi.jigasi.transcription.customService=org.jitsi.jigasi.transcription.VoskTranscriptionService
org.jitsi.jigasi.transcription.vosk.websocket_url={"is": "${socket}/vosk/is?token=KEY", "en": "${socket}/vosk/en?token=KEY"}`,
    },
    {
      name: "BigBlueButton",
      where: programsText.bigBlueButton,
      paste: `vosk:
  servers:
    is-IS: ${withKey(socket)}/vosk/is
    en-US: ${withKey(socket)}/vosk/en`,
    },
    {
      name: "Asterisk",
      where: programsText.asterisk,
      paste: `[general]
url = ${socket}/vosk/is?token=KEY`,
    },
    {
      name: "FreeSWITCH",
      where: programsText.freeSwitch,
      paste: `<param name="server-url" value="${socket}/vosk/is?token=KEY"/>`,
    },
    { name: "jambonz", where: programsText.jambonz, paste: `${socket}/jambonz` },
  ];
}

function ofCode(origin: string): readonly ProgramSettings[] {
  return [
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

/** Returns an address with the key as the password of Basic, for programs that have no field. */
function withKey(address: string): string {
  return address.replace("//", "//hlust:KEY@");
}
