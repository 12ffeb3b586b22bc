import { jsonLayout } from "../../transcoding/openapi/json-layout.ts";
import { describeFailures } from "../openapi-failures.ts";

/**
 * A section of the guide, which precedes the methods. Texts are paragraphs, which can contain
 * `code`.
 */
export interface GuideSection {
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly GuideBlock[];
}

export type GuideBlock =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "code";
      readonly lang: string;
      readonly label: string;
      readonly source: string;
    }
  | {
      readonly kind: "rows";
      readonly label: string;
      readonly rows: readonly (readonly [term: string, text: string])[];
    };

/**
 * Returns the guide for a service at `url`. The guide is part of the API reference and, as
 * Markdown, of the OpenAPI document's description.
 */
export function guideOf(url: string): GuideSection[] {
  return [
    firstCall(url),
    authentication(),
    requestsAndAnswers(),
    errors(),
    liveAudio(url),
    media(url),
    grpc(url),
  ];
}

export function guideMarkdown(sections: readonly GuideSection[]): string {
  return sections
    .map(({ title, blocks }) => `## ${title}\n\n${blocks.map(markdownOf).join("\n\n")}`)
    .join("\n\n");
}

function markdownOf(block: GuideBlock): string {
  if (block.kind === "text") return block.text;
  if (block.kind === "code") return `\`\`\`${block.lang}\n${block.source}\n\`\`\``;
  return block.rows.map(([term, text]) => `- \`${term}\`: ${text}`).join("\n");
}

function text(text: string): GuideBlock {
  return { kind: "text", text };
}

function code(lang: string, label: string, source: string): GuideBlock {
  return { kind: "code", lang, label, source };
}

function rows(label: string, rows: readonly (readonly [string, string])[]): GuideBlock {
  return { kind: "rows", label, rows };
}

function firstCall(url: string): GuideSection {
  return {
    id: "first-call",
    title: "A first call",
    blocks: [
      text(
        "REST, WebSocket, gRPC, gRPC-Web and Connect use the same address. The examples on this page can be pasted into a shell that has a token in `$TOKEN`.",
      ),
      code(
        "sh",
        "Your transcripts",
        `curl ${url}/v1alpha1/transcripts \\\n  -H "Authorization: Bearer $TOKEN"`,
      ),
    ],
  };
}

function authentication(): GuideSection {
  return {
    id: "authentication",
    title: "Authentication",
    blocks: [
      text(
        "Every call carries a token: `Authorization: Bearer <token>`. A token is an API key, or a JWT that is signed with the private half of a registered client key.",
      ),
      text(
        "For browsers that cannot set headers, the Speech service also accepts the query parameter `token=<token>`, and a WebSocket `Sec-WebSocket-Protocol: Bearer, <token>`. Google's clients send an API key as `X-Goog-Api-Key`. Two different tokens in one call are refused.",
      ),
      text(
        "A JWT is signed with RS256, ES256 or EdDSA. Its header has `kid`, the id of the client key. Its claims are `iss` and `sub`, both the client id; `aud`, the address of this service; `iat`; and `exp`, at most an hour later.",
      ),
      rows("Scopes of keys", [
        ["transcripts.read", "reads jobs and transcripts"],
        [
          "transcripts.write",
          "submits jobs; creates, changes and deletes transcripts; uploads media",
        ],
        ["speech", "recognizes audio, in one call or live"],
        ["account", "creates, lists and revokes keys"],
      ]),
    ],
  };
}

function requestsAndAnswers(): GuideSection {
  return {
    id: "json",
    title: "Requests and answers",
    blocks: [
      text(
        "Bodies are JSON in UTF-8, in the JSON mapping of Protocol Buffers. Names are lowerCamelCase; snake_case is accepted too. Unknown fields and query parameters are refused, null is the same as absent, and numbers may be in quotes.",
      ),
      rows("Types", [
        ["duration", 'seconds, with up to nine digits after the point: "1.500s"'],
        ["timestamp", 'RFC 3339; answers are in UTC: "2026-11-20T10:11:12.345Z"'],
        ["base64", "bytes; standard and URL-safe base64 are accepted, with or without padding"],
        ["int64", "a string of digits, because JSON numbers are exact up to 2^53 only"],
        ["enum", "the name of a value; its number is accepted too"],
      ]),
      text(
        "Lists come in pages: `nextPageToken` of one answer is the `pageToken` of the next request, and is empty on the last page. Requests may contain fields that only the service sets; they are ignored.",
      ),
      text(
        "A client can set a deadline in seconds, `X-Server-Timeout: 1.5`; a call that takes longer gets 504.",
      ),
      text(
        "Programs must ignore fields of answers that are not described here: later versions add fields.",
      ),
    ],
  };
}

function errors(): GuideSection {
  return {
    id: "errors",
    title: "Errors",
    blocks: [
      text(
        "Every failed call has the same kind of body: `code` is the google.rpc.Code, `message` names the field, its value and the limit, and `details` are for programs. `error` repeats them in the form of Google's JSON APIs.",
      ),
      text(
        "Rely on `reason` in google.rpc.ErrorInfo, not on the wording of messages. google.rpc.BadRequest lists every violation in a request. A resource of another account gets the same answer as one that does not exist.",
      ),
      code("json", "An answer of 400", exampleError()),
      rows("Status codes", [
        ["400", "the request is malformed, or not possible in the current state"],
        ["401", "no valid token; `WWW-Authenticate: Bearer`"],
        ["403", "the key lacks a scope"],
        ["404", "the resource does not exist in this account"],
        ["405", "the path does not accept this method; `Allow` lists those that it does"],
        ["409", "a conflict: a stale version, or an `Idempotency-Key` that was used before"],
        ["413", "the body is too long"],
        ["415", "the body is not JSON"],
        ["426", "the method needs a WebSocket"],
        ["429", "a limit is reached: retry after `Retry-After` seconds"],
        ["500", "an internal error; the operator finds it in the log"],
        ["503", "temporarily unavailable: retry after `Retry-After` seconds"],
        ["504", "the deadline of the client or a time limit of the service has passed"],
      ]),
    ],
  };
}

function exampleError(): string {
  const { shared } = describeFailures();
  const example = shared.find(({ status }) => status === 400)?.examples["INVALID_ARGUMENT"];
  return jsonLayout(example?.body ?? {}, 84);
}

function liveAudio(url: string): GuideSection {
  const socket = url.replace(/^http/, "ws");
  return {
    id: "live-audio",
    title: "Live audio",
    blocks: [
      text(
        "A stream of audio is sent over a WebSocket. Each text message is JSON: the first has `streamingConfig`, every later one `audioContent`; an empty `audioContent` ends the audio and requests the last results. Answers are in `result`; `error` is the last message of a stream that fails. What a browser records as WebM, or another container, is sent with the encoding `GUESS`.",
      ),
      code(
        "js",
        "In a browser, or in Node 22 and later",
        `const address = "${socket}/v2beta1/speech:streamingrecognize";
const socket = new WebSocket(address, ["Bearer", token]);
socket.onopen = () => {
  const config = { encoding: "LINEAR16", sampleRateHertz: 16000, languageCode: "en-US" };
  socket.send(JSON.stringify({ streamingConfig: { config, interimResults: true } }));
  // for each chunk of audio: socket.send(JSON.stringify({ audioContent: base64 }))
};
socket.onmessage = ({ data }) => {
  const { result, error } = JSON.parse(data);
  if (error) console.error(error.message);
  for (const { isFinal, alternatives } of result?.results ?? []) {
    console.log(isFinal ? "final" : "interim", alternatives[0].transcript);
  }
};`,
      ),
      rows("Close codes", [
        ["1000", "the stream is complete"],
        ["1007", "a message is invalid"],
        ["1008", "the token is not valid, or the stream broke a rule, such as 60 s without audio"],
        ["1009", "a message is longer than 1 MiB"],
        ["1011", "an internal error"],
        ["1012", "the service restarts: final results were sent, connect again"],
        ["1013", "a limit is reached: retry later"],
      ]),
    ],
  };
}

function media(url: string): GuideSection {
  return {
    id: "media",
    title: "Media",
    blocks: [
      text(
        "A recording comes from a URL on the public internet, or is uploaded: `initupload` returns a temporary URL that accepts the file in one PUT; its signature is the only authorization that is required. The answer is sent when the bytes are stored; an interrupted upload stores nothing and can be repeated.",
      ),
      code(
        "sh",
        "An upload, and a job for it",
        `UPLOAD=$(curl -s ${url}/v1alpha1/initupload -H "Authorization: Bearer $TOKEN" -d '{}')
curl -X PUT --data-binary @talk.wav "$(jq -r .storageSignedUrl <<<"$UPLOAD")"
jq '{uri: .resourceName, useUri: false, metadata: {languageCode: "en-US", fileType: "AUDIO"}}' <<<"$UPLOAD" |
  curl ${url}/v1alpha1/transcriptjob:submit -H "Authorization: Bearer $TOKEN" -d @-`,
      ),
      text(
        "Large files, and lines that break, are for `/v1alpha1/uploads`: any client of tus 1.0.0 uploads there and continues where it was interrupted. The last part of the upload's URL is its id, for the `uri` of a job: `uploads/<id>`.",
      ),
      text(
        "The `uri` of a transcript is such a URL too, for GET and HEAD, with ranges and ETag: media players can use it.",
      ),
    ],
  };
}

function grpc(url: string): GuideSection {
  const { host, protocol } = new URL(url);
  const address = /:\d+$/.test(host) ? host : `${host}:${protocol === "https:" ? 443 : 80}`;
  const plain = protocol === "https:" ? "" : "-plaintext ";
  return {
    id: "grpc",
    title: "gRPC and Connect",
    blocks: [
      text(
        "The same methods are available over gRPC (HTTP/2, with or without TLS in front), gRPC-Web and Connect at the same address. Each is listed below with its full name. Send the token in the metadata `authorization: Bearer <token>`. Errors have the same details, as a `google.rpc.Status`.",
      ),
      code(
        "sh",
        "With grpcurl, which gets the contract by reflection",
        `grpcurl ${plain}${address} list
grpcurl ${plain}-H "authorization: Bearer $TOKEN" -d '{"pageSize": 10}' \\
  ${address} hlust.transcripts.v1alpha1.Transcripts/ListTranscripts`,
      ),
      text(
        "Clients made for Google's speech service connect unchanged to `google.cloud.speech.v1.Speech` (Recognize and StreamingRecognize): give them this address as their endpoint. `grpc.health.v1.Health` reports the health of the service to load balancers.",
      ),
    ],
  };
}
