import {
  type OpenApiDocument,
  operationsIn,
  type PlacedOperation,
  type Tag,
} from "../../transcoding/openapi/document.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { type GuideBlock, guideOf, type GuideSection } from "./guide.ts";
import { html, type Html } from "./html.ts";
import { codeView, methodLabel, operationView } from "./operation-view.ts";
import { inline, prose } from "./prose.ts";
import { schemaAnchor, schemaView } from "./schema-view.ts";

/**
 * Generates the API reference from the OpenAPI document as one HTML page. The page loads one style
 * sheet and one icon and, with the `parts` of the console, a script that calls methods. `intro`: a
 * one-sentence description of the service.
 */
export function docsPage(
  document: OpenApiDocument,
  intro: string,
  parts: ConsoleParts | undefined,
): string {
  const url = document.servers[0]?.url ?? "";
  const guide = guideOf(url);
  const operations = operationsIn(document);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${document.info.title} API</title>
        <meta name="description" content="${intro}" />
        <link rel="stylesheet" href="docs/style.css" />
        <link rel="icon" href="docs/icon.svg" type="image/svg+xml" />
        ${parts && html`<link rel="stylesheet" href="${parts.styles}" />`}
        ${parts && html`<script type="module" src="${parts.script}"></script>`}
      </head>
      <body id="top">
        <a class="skip" href="#main">Skip to the content</a>
        <div class="frame">
          <header class="rail">
            <p class="name">${ear}<a href="#top">${document.info.title}</a></p>
            ${parts && html`<p class="back"><a href="console/">Console</a></p>`}
            <nav class="wide" aria-label="Contents">${contents(guide, document, operations)}</nav>
            <details class="small">
              <summary>Contents</summary>
              <nav aria-label="Contents, folded">${contents(guide, document, operations)}</nav>
            </details>
          </header>
          <main id="main">
            <header>
              <h1>${document.info.title} API</h1>
              <p class="lead">${intro}</p>
              <dl class="facts">
                <dt>Address</dt>
                <dd><code>${url}</code></dd>
                <dt>Version</dt>
                <dd>${document.info.version}</dd>
                <dt>For machines</dt>
                <dd><a href="openapi.json">openapi.json</a> (OpenAPI 3.1), gRPC reflection</dd>
                ${contactView(document.info.contact)}
              </dl>
            </header>
            ${guide.map(guideView)}
            ${document.tags.map((tag) => tagView(tag, document, operations))}
            ${schemasView(document)}
          </main>
        </div>
      </body>
    </html> `;
  return page.toString();
}

/** Shows the address where people can request access. */
function contactView(contact: OpenApiDocument["info"]["contact"]): Html {
  const { email, url } = contact ?? {};
  const text = email ?? url;
  if (text === undefined) return html``;
  const href = email === undefined ? text : `mailto:${email}`;
  return html`<dt>Access</dt>
    <dd>ask <a href="${href}">${text}</a></dd>`;
}

function contents(
  guide: readonly GuideSection[],
  document: OpenApiDocument,
  operations: readonly PlacedOperation[],
): Html {
  const tags = document.tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    const links = own.map((placed) => {
      const { operationId } = placed.operation;
      const label = methodLabel(placed);
      return html`<li>
        <a href="#${operationId}"
          ><span>${nameOf(operationId)}</span>
          <small class="${label.toLowerCase()}">${label}</small></a
        >
      </li>`;
    });
    return html`<p><a href="#${tagAnchor(name)}">${shortName(name)}</a></p>
      <ul>
        ${links}
      </ul>`;
  });
  return html`<p>Guide</p>
    <ul>
      ${guide.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
    </ul>
    ${tags}
    <p><a href="#schemas">Schemas</a></p>`;
}

/**
 * Returns the name of an operation without the package, which distinguishes the operation from
 * another of the same name. The number of an additional binding stays.
 */
function nameOf(operationId: string): string {
  return /[^_]+(?:_\d+)?$/.exec(operationId)?.[0] ?? operationId;
}

/**
 * Returns the last part of a tag. google.cloud.speech.v1.Speech is too long for the navigation.
 */
function shortName(tag: string): string {
  const [first = "", ...rest] = tag.split(".");
  return rest.length === 0 ? tag : `${rest.at(-1)} (${first})`;
}

function tagAnchor(tag: string): string {
  return `service-${tag}`;
}

function guideView({ id, title, blocks }: GuideSection): Html {
  return html`<section class="guide" id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title"><a href="#${id}">${title}</a></h2>
    ${blocks.map(blockView)}
  </section> `;
}

function blockView(block: GuideBlock): Html {
  if (block.kind === "text") return html`${prose(block.text)}`;
  if (block.kind === "code") return codeView(block.label, block.source);
  const rows = block.rows.map(
    ([term, text]) =>
      html`<div>
        <dt><code>${term}</code></dt>
        <dd><p>${inline(text)}</p></dd>
      </div>`,
  );
  return html`<h3 class="label">${block.label}</h3>
    <dl class="fields narrow">${rows}</dl>`;
}

function tagView(
  tag: Tag,
  document: OpenApiDocument,
  operations: readonly PlacedOperation[],
): Html {
  const own = operations.filter(({ operation }) => operation.tags.includes(tag.name));
  const id = tagAnchor(tag.name);
  return html`<section class="service" id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title"><a href="#${id}">${tag.name}</a></h2>
    <div class="lead">${prose(tag.description)}</div>
    ${own.map((operation) => operationView(operation, document))}
  </section> `;
}

function schemasView({ components: { schemas } }: OpenApiDocument): Html {
  const views = Object.entries(schemas).map(([name, schema]) => {
    const id = schemaAnchor(name);
    return html`<section class="schema" id="${id}" aria-labelledby="${id}-title">
      <h3 id="${id}-title"><a href="#${id}">${name}</a></h3>
      ${schemaView(schema, schemas)}
    </section> `;
  });
  return html`<section class="schemas" id="schemas" aria-labelledby="schemas-title">
    <h2 id="schemas-title"><a href="#schemas">Schemas</a></h2>
    <div class="lead">
      <p>
        Fields marked <span class="mark">always</span> are in every answer; the others are left out
        when they are not set. A schema whose name ends in Input or Patch is for requests, and one
        whose name ends in Partial is for answers without their unset fields.
      </p>
    </div>
    ${views}
  </section>`;
}

const ear = html`<svg
  viewBox="0 0 26 26"
  width="26"
  height="26"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  aria-hidden="true"
>
  <path
    d="M7 11a6.5 6.5 0 1 1 12 3.4c-1.2 2-3 2.7-3.4 4.8-.4 2.2-1.6 3.8-3.8 3.8a3.8 3.8 0 0 1-3.7-3"
  />
  <path d="M10.2 11.2a3.2 3.2 0 1 1 5.4 2.3c-.9.8-1.5 1.4-1.5 2.6" />
</svg>`;
