/** How a fact is shown: by a check of client-rows.test.ts, by a test elsewhere, or not at all. */
export type Shown =
  | { readonly check: string }
  | { readonly file: string; readonly test: string }
  /** Why the service does something else, with the words of docs/dialects.md that say so. */
  | { readonly reason: string; readonly documented: string };

const forms = "test/dialects/openai-forms.test.ts";
const openai = "test/dialects/openai-clients.test.ts";
const deepgram = "test/dialects/deepgram.test.ts";
const listen = "test/dialects/deepgram-sockets.test.ts";
const realtime = "test/dialects/realtime.test.ts";
const vosk = "test/dialects/vosk.test.ts";
const wyoming = "test/dialects/wyoming.test.ts";
const whisper = "test/dialects/whisper.test.ts";
const jambonz = "test/dialects/jambonz.test.ts";
const google = "test/spec/google-clients.test.ts";

/** What clients send and check, as their sources have it. */
export const clientFacts: Readonly<Record<string, Readonly<Record<string, Shown>>>> = {
  "openai (Node)": {
    "reads text where the content type is not JSON": {
      file: openai,
      test: "gets the text in every format",
    },
    "reads all ten members of a segment": {
      file: openai,
      test: "gets segments and words as verbose_json",
    },
    "sends a stream in chunks, without Content-Length": {
      file: forms,
      test: "a body without Content-Length",
    },
    "sends MediaRecorder's type with parameters": { file: forms, test: "MediaRecorder's WebM" },
    "accepts spaces before the JSON of a late answer": {
      file: "src/dialects/patient-answer.test.ts",
      test: "JSON may begin with spaces",
    },
    "appends deltas, and ends at [DONE]": {
      file: openai,
      test: "gets the text of a long recording as it becomes final, and nothing twice",
    },
    "throws the class of the status, with the code": {
      file: openai,
      test: "finds the models, and throws its own errors",
    },
    "does not repeat a call for which no audio is left": {
      file: "test/dialects/openai-limits.test.ts",
      test: "an account without audio left gets the code by which clients stop",
    },
    "has a method for translations": {
      file: openai,
      test: "cannot translate, which has its own error",
    },
  },
  "openai (Python)": {
    "sends lists with brackets": { file: forms, test: "keywords as a list" },
    "sends objects with brackets": { file: forms, test: "chunking_strategy[type]" },
  },
  "groq-sdk": {
    "appends /openai/v1/audio/transcriptions to its address": {
      file: openai,
      test: "the client of Groq finds the service under /openai",
    },
    "sleeps for as long as retry-after says, unless x-should-retry forbids it": {
      file: "test/dialects/openai-limits.test.ts",
      test: "an account without audio left gets the code by which clients stop",
    },
  },
  "ai with @ai-sdk/openai": {
    "reads the language as an English name": {
      file: openai,
      test: "the AI SDK gets text, segments, language and duration",
    },
  },
  "Open WebUI": {
    "tries again without a language, and shows error.message": {
      check: "Open WebUI: an error, then without a language",
    },
    "has a setting for OpenRouter's JSON instead of a form": {
      reason: "that is another protocol, and the form is its default",
      documented: "Multipart Upload as the Request Format",
    },
  },
  LibreChat: {
    "cuts a language to two letters": { file: forms, test: "LibreChat: a language of two letters" },
    "shows an empty text as an error of its own": { file: forms, test: "silence is an empty text" },
  },
  "n8n and ccbot": {
    "send a fixed name of a model": { check: "n8n and ccbot: fixed names of models" },
  },
  Nextcloud: {
    "asks for models, counts the end of the last segment, and sends any name": {
      check: "Nextcloud: models, verbose_json, the end of the last segment, Basic",
    },
  },
  "Subtitle Edit": {
    "sends the file as the last part": {
      file: forms,
      test: "Subtitle Edit: the file is the last part",
    },
    "drops events without a type, and deltas whose segment_id is not a number": {
      check: "Subtitle Edit: events with a line of their type, and no segment_id",
    },
  },
  "whisper-to-input": {
    "sends the language only in the query": {
      check: "whisper-to-input: plain text, with the language only in the query",
    },
  },
  "Pipecat (OpenAI)": {
    "reads the probabilities of segments": {
      check: "Pipecat: verbose_json, which it requests for metrics of Whisper",
    },
    "asks for logprobs where its metrics are on": {
      reason: "models have no tokens, and invented numbers would be counted",
      documented: "`include[]=logprobs`",
    },
  },
  "LiveKit (OpenAI)": {
    "sends languages and keywords as lists": { file: forms, test: "LiveKit: languages[]" },
  },
  Scriberr: {
    "reads words and segments": { check: "Scriberr: words and segments" },
    "asks for diarized_json": {
      file: "test/spec/models.test.ts",
      test: "diarized_json",
    },
  },
  "whisper.cpp's clients": {
    "expect its types of content": {
      file: whisper,
      test: "each format has the media type that its server gives it",
    },
    "find words in their segments": { file: whisper, test: "the words are in their segments" },
    "read an error as a text": { file: whisper, test: "an error is a text" },
  },
  "Home Assistant": {
    "finds the program within a second": {
      file: wyoming,
      test: "finds the program, its models and their languages",
    },
    "reads until the transcript, and takes a closed connection for an error": {
      file: wyoming,
      test: "gets the transcript of a command, as its only answer but the parts",
    },
    "sends until it has read the transcript": {
      file: wyoming,
      test: "continues to send until it has read the transcript",
    },
    "shows parts while it sends": {
      file: wyoming,
      test: "gets utterances as they become final, while it sends, and all of them as one",
    },
    "can leave the end of a command to the service": {
      reason: "the end by silence is the client's: requires_external_vad is true",
      documented: "The client finds the end of a command (`requires_external_vad`).",
    },
  },
  "wyoming-faster-whisper's clients": {
    "send every rate, width and number of channels": {
      file: wyoming,
      test: "sends audio in every form that its events name",
    },
    "get an empty transcript without audio": {
      file: wyoming,
      test: "gets an empty transcript for silence, and for no audio at all",
    },
  },
  "@deepgram/sdk": {
    "sends a file with Token, and lists by repeated names": {
      file: deepgram,
      test: "gets utterances, paragraphs and keyterms of a file",
    },
    "reconnects unless the code is 1000": {
      file: deepgram,
      test: "gets its messages in order: speech, results, the ends of utterances, and Metadata",
    },
    "opens a socket in a browser with its key as a subprotocol": {
      file: listen,
      test: "takes the key in each form in which clients send it",
    },
  },
  "ai with @ai-sdk/deepgram": {
    "needs an alternative and the duration": {
      file: deepgram,
      test: "the AI SDK with its provider for Deepgram gets text, words and the duration",
    },
  },
  "LiveKit (Deepgram)": {
    "sends KeepAlive each 5 s, also in silence": {
      file: listen,
      test: "ends with NET-0001 after ten seconds without a message, but not with KeepAlive",
    },
    "sends no audio in silence, and reads metadata.request_id unchecked": {
      check: "LiveKit over Deepgram: KeepAlive, no audio in silence, Finalize, CloseStream",
    },
  },
  "Pipecat (Deepgram)": {
    "waits for from_finalize, also without speech": {
      file: deepgram,
      test: "gets the rest of an utterance with from_finalize, and an answer if there is none",
    },
    "takes a handshake with 4xx for the end": {
      file: listen,
      test: "is refused with every violation, in Deepgram's form",
    },
  },
  "OpenAI Realtime": {
    "openai: connects to wss only, and selects the subprotocol": {
      file: realtime,
      test: "creates a secret with which a browser opens one socket",
    },
    "Pipecat: commits, and shows each delta": {
      file: realtime,
      test: "Pipecat: without turn detection, a commit gets the text of all utterances before it",
    },
    "LiveKit: does not wait for session.created, and joins deltas": {
      file: realtime,
      test: "LiveKit: an update without waiting, turns by pauses, and a commit in between",
    },
    "all: take an error event for the end": {
      file: realtime,
      test: "answers what it cannot use with an error that names each problem, and stays open",
    },
    "all: wait for completed after each commit, so that a commit after a turn gets an empty item": {
      reason: "it is the answer to the commit, without which they would wait",
      documented: "A commit without speech gets an empty transcript",
    },
  },
  Bazarr: {
    "sends raw samples of a whole film": {
      file: whisper,
      test: "Bazarr sends raw samples without a header, more than OpenAI's clients may send",
    },
    "takes every body for subtitles, whatever its status": {
      file: whisper,
      test: "an error is a line that cannot be mistaken for subtitles",
    },
    "reads Whisper's code and name of a language": {
      file: whisper,
      test: "the language of the service is stated, since none is detected",
    },
    "sends its key in the address, and reads JSON alone for a language": {
      check: "Bazarr: a key in the address, and no audio track",
    },
  },
  "FreeSWITCH (mod_vosk)": {
    "ignores answers with an empty string": {
      file: vosk,
      test: "FreeSWITCH: telephone audio without a configuration, answers without empty strings",
    },
  },
  "Asterisk (res_speech_vosk)": {
    "reads once for each write, and refuses extensions": {
      file: vosk,
      test: "Asterisk: the subprotocol ws, one answer for each frame, and the end",
    },
  },
  "Jitsi (jigasi)": {
    "sends configuration, audio and the end at once": {
      file: vosk,
      test: "Jitsi: configuration, audio and the end at once",
    },
    "keeps a socket for a conference": {
      check: "jigasi: a conference that is silent for a while",
    },
  },
  BigBlueButton: {
    "sends a rate as text, messages of its own, and an empty frame": {
      file: vosk,
      test: "BigBlueButton: Basic in the address, a rate in quotes, messages of its own, an empty frame",
    },
  },
  jambonz: {
    "sends the hints of its applications": {
      file: "test/dialects/every-dialect.test.ts",
      test: "jambonz, options.hints",
    },
    "sends start, audio and stop, and waits for the close": {
      file: jambonz,
      test: "a call of 8 kHz gets its final results, and the service closes after stop",
    },
  },
  "@google-cloud/speech": {
    "recognizes over gRPC": { file: google, test: "recognize() returns the results of §4.8" },
    "streams, with singleUtterance": {
      file: google,
      test: "with singleUtterance, the stream returns the final result",
    },
    "works with fallback: true": {
      file: google,
      test: "REST serves Google's client without gRPC, and plain requests",
    },
    "sends fields that only Google's API has": {
      file: google,
      test: "fields that only Google's API has, are ignored",
    },
  },
};
