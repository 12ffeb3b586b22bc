import type { JsonValue } from "@bufbuild/protobuf";
import type {
  MediaType,
  OpenApiDocument,
  Operation,
  Parameter,
  PlacedOperation,
  Reference,
  RequestBody,
  Response,
  Schema,
  WebSocketExample,
} from "../../transcoding/openapi/document.ts";
import { jsonLayout } from "../../transcoding/openapi/json-layout.ts";
import { html, type Html } from "./html.ts";
import { inline, prose } from "./prose.ts";
import { fieldsView, fieldView, nameOfRef, typeView } from "./schema-view.ts";

/**
 * Returns the method as the page shows it: WEBSOCKET for a WebSocket, although its handshake is a
 * GET.
 */
export function methodLabel({ method, operation }: PlacedOperation): string {
  return operation["x-websocket"] === undefined ? method : "SOCKET";
}

/** The width of examples in characters, which is that of the column next to the text. */
const exampleWidth = 66;

export function operationView(placed: PlacedOperation, document: OpenApiDocument): Html {
  const { path, operation } = placed;
  const label = methodLabel(placed);
  const id = operation.operationId;
  const { schemas } = document.components;
  // The script of the page adds a form to these: methods of the contract that are called over HTTP.
  const isTried = operation["x-grpc-path"] !== undefined && label !== "SOCKET";
  const attributes = isTried ? html` data-try` : html``;
  return html`<section
    class="operation"
    id="${id}"
    aria-labelledby="${id}-title ${id}-route"
    ${attributes}
  >
    <div class="said">
      <h3 id="${id}-title"><a href="#${id}">${inline(operation.summary)}</a></h3>
      <p class="route" id="${id}-route">
        <span class="method ${label.toLowerCase()}">${label}</span>
        <code>${pathView(path)}</code>
      </p>
      ${prose(operation.description)} ${accessView(operation)}
      ${parametersView(operation.parameters ?? [])}
      ${operation.requestBody && bodyView(operation.requestBody, schemas)}
      ${socketView(operation, schemas)} ${answersView(operation, document)}
    </div>
    <div class="shown" role="group" aria-label="Examples" tabindex="0">
      ${samplesView(operation)} ${answerExamples(operation)}
      ${Object.values(operation["x-websocket"]?.examples ?? {}).map(exchangeView)}
    </div>
  </section> `;
}

/** Marks up the parameters in the path. Long paths may break after a slash. */
function pathView(path: string): Html[] {
  return path
    .split(/(\{[^}]*\}|\/)/)
    .map((part) =>
      part === "/"
        ? html`/<wbr />`
        : part.startsWith("{")
          ? html`<var>${part}</var>`
          : html`${part}`,
    );
}

function accessView({ security, "x-grpc-path": grpc }: Operation): Html {
  const scopes = [...new Set(security.flatMap((one) => Object.values(one).flat()))];
  const hasToken = security.some((one) => "token" in one);
  const access =
    security.length === 0
      ? html`<dt>Access</dt>
          <dd>No token is needed.</dd>`
      : html`<dt>Scope</dt>
          <dd>
            ${scopes.map((scope, at) => html`${at === 0 ? "" : ", "}<code>${scope}</code>`)}${hasToken ? html`; the token may be sent as <code>?token=</code>` : ""}
          </dd>`;
  const named =
    grpc &&
    html`<dt>gRPC</dt>
      <dd><code>${wrapped(grpc.slice(1))}</code></dd>`;
  return html`<dl class="facts">${access}${named}</dl>`;
}

/** Returns a dotted name that may break after its dots. */
function wrapped(name: string): Html[] {
  return name.split(/(?<=[./])/).map((part) => html`${part}<wbr />`);
}

const placeNames = { path: "In the path", query: "In the query", header: "Headers" } as const;

function parametersView(parameters: readonly Parameter[]): Html[] {
  return (["path", "query", "header"] as const).flatMap((place) => {
    const here = parameters.filter((parameter) => parameter.in === place);
    if (here.length === 0) return [];
    const rows = here.map(({ name, schema, description, required }) =>
      fieldView(
        name,
        { ...schema, ...(description !== undefined && { description }) },
        required === true && place !== "path" ? "required" : "",
      ),
    );
    return [
      html`<h4>${placeNames[place]}</h4>
        <dl class="fields">${rows}</dl>`,
    ];
  });
}

function bodyView(body: RequestBody, schemas: Readonly<Record<string, Schema>>): Html {
  const schema = body.content["application/json"]?.schema;
  const bytesMax = body["x-bytesMax"];
  const limit =
    bytesMax === undefined
      ? undefined
      : html`<p class="limits">The body is at most ${mebibytes(bytesMax)}.</p>`;
  if (schema === undefined)
    return html`<h4>Body</h4>
      <p>The file as it is.</p>
      ${limit}`;
  const name = nameOfRef(schema) === undefined ? "" : html`: ${typeView(schema)}`;
  const fields =
    fieldsView(schema, schemas) ?? html`<p>No fields: <code>{}</code>, or no body at all.</p>`;
  return html`<h4>Body${name}</h4>
    ${fields}${limit}`;
}

function mebibytes(bytes: number): string {
  return bytes % (1 << 20) === 0 ? `${bytes >> 20} MiB` : `${bytes} bytes`;
}

function socketView(
  operation: Operation,
  schemas: Readonly<Record<string, Schema>>,
): Html | undefined {
  const socket = operation["x-websocket"];
  if (socket === undefined) return undefined;
  const result = socket.receive.oneOf?.[0]?.properties?.["result"] ?? {};
  const error = socket.receive.oneOf?.[1]?.properties?.["error"] ?? {};
  return html`<h4>You send: ${typeView(socket.send)}</h4>
    ${fieldsView(socket.send, schemas)}
    <h4>You receive</h4>
    <dl class="fields">
      ${fieldView("result", { ...result, description: "A message of the method." }, "")}${fieldView("error", { ...error, description: "The error that ends the stream, as its last message." }, "")}
    </dl>`;
}

function answersView(operation: Operation, document: OpenApiDocument): Html[] {
  const { schemas } = document.components;
  const statuses = Object.entries(operation.responses).map(([status, response]) => ({
    status,
    response: dereferenced(response, document),
  }));
  const good = statuses.filter(({ status }) => /^[123]/.test(status));
  const bad = statuses.filter(({ status }) => !/^[123]/.test(status));
  const answers = good.map(({ status, response }) => {
    const schema = firstSchema(response);
    const fields = schema && fieldsView(schema, schemas);
    const type = schema && nameOfRef(schema) !== undefined ? html`: ${typeView(schema)}` : "";
    return html`<h4>Answer ${status}${type}</h4>
      ${response.description === "Success." ? "" : prose(response.description)}${fields ?? (schema?.type === "object" ? html`<p>An empty object.</p>` : "")}`;
  });
  return [...answers, errorsView(bad)];
}

function firstSchema({ content = {} }: Response): Schema | undefined {
  return Object.values(content)[0]?.schema;
}

function errorsView(statuses: readonly { status: string; response: Response }[]): Html {
  const rows = statuses.map(({ status, response }) => {
    const shown = status === "default" ? "else" : status;
    return html`<div>
      <dt><code>${shown}</code></dt>
      <dd>${prose(response.description)}</dd>
    </div>`;
  });
  return html`<details class="errors">
    <summary>
      Errors
      <span class="codes"
        >${statuses.flatMap(({ status }) => (status === "default" ? [] : [html`<code>${status}</code> `]))}</span
      >
    </summary>
    <dl class="fields narrow">${rows}</dl>
  </details>`;
}

/** Returns the response, or the shared response that it refers to. */
function dereferenced(response: Response | Reference, { components }: OpenApiDocument): Response {
  if (!("$ref" in response)) return response;
  const name = response.$ref.slice("#/components/responses/".length);
  return components.responses[name] ?? { description: "" };
}

function samplesView({ "x-codeSamples": samples = [] }: Operation): Html[] {
  return samples.map(({ label, source }) => codeView(label, source));
}

export function codeView(label: string, source: string): Html {
  return html`<figure>
    <figcaption>${inline(label)}</figcaption>
    <pre tabindex="0" aria-label="${label.replaceAll("`", "")}"><code>${source}</code></pre>
  </figure>`;
}

function answerExamples({ responses }: Operation): Html[] {
  const { "200": success } = responses;
  if (success === undefined || "$ref" in success) return [];
  const media: MediaType = success.content?.["application/json"] ?? {};
  const seen = new Set<string>();
  return Object.values(media.examples ?? {}).flatMap(({ summary = "", value }, _at, all) => {
    const text = jsonLayout(value, exampleWidth);
    if (seen.has(text)) return [];
    seen.add(text);
    return [codeView(all.length === 1 ? "Answer" : `Answer: ${summary}`, text)];
  });
}

function exchangeView({ summary, messages }: WebSocketExample): Html {
  const rows = messages.map((message) => {
    const [who, value]: [string, JsonValue] =
      "send" in message ? ["you", message.send] : ["service", message.receive];
    return html`<li class="${who}">
      <span class="who">${who === "you" ? "You" : "Hlust"}</span>
      <pre><code>${jsonLayout(value, exampleWidth - 12)}</code></pre>
    </li>`;
  });
  return html`<figure class="exchange">
    <figcaption>${summary}</figcaption>
    <ol>
      ${rows}
    </ol>
  </figure>`;
}
