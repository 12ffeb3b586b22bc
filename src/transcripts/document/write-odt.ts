import { documentLanguage, type DocumentLanguage } from "./document-language.ts";
import type { DocumentPart } from "./paragraphs.ts";
import type { DocumentContent } from "./write-docx.ts";
import { xmlHead, xmlText } from "./xml-text.ts";
import { zipPackage } from "./zip-package.ts";

const mediaType = "application/vnd.oasis.opendocument.text";
const namespace = "urn:oasis:names:tc:opendocument:xmlns";
const namespaces = [
  ["office", `${namespace}:office:1.0`],
  ["style", `${namespace}:style:1.0`],
  ["text", `${namespace}:text:1.0`],
  ["fo", `${namespace}:xsl-fo-compatible:1.0`],
  ["meta", `${namespace}:meta:1.0`],
  ["dc", "http://purl.org/dc/elements/1.1/"],
]
  .map(([prefix, uri]) => `xmlns:${prefix}="${uri}"`)
  .join(" ");

/**
 * Writes a document in the OpenDocument format 1.3 with the content and the look of writeDocx().
 * Returns undefined if the XML would be longer than `charsMax`.
 */
export function writeOdt(content: DocumentContent): Uint8Array | undefined {
  const language = documentLanguage(content.languageCode);
  const body = bodyOf(content);
  if (body === undefined) return undefined;
  return zipPackage(
    [
      ["mimetype", mediaType],
      ["META-INF/manifest.xml", manifest],
      [
        "content.xml",
        root("content", `<office:body><office:text>${body}</office:text></office:body>`),
      ],
      ["styles.xml", root("styles", stylesOf(language))],
      ["meta.xml", root("meta", metaOf(content.title, language))],
    ],
    "mimetype",
  );
}

function root(name: string, content: string): string {
  const element = `office:document-${name}`;
  return `${xmlHead}<${element} ${namespaces} office:version="1.3">${content}</${element}>`;
}

function bodyOf({ title, paragraphs, options, charsMax }: DocumentContent): string | undefined {
  let body = options.title && title !== "" ? paragraph("Title", xmlText(title)) : "";
  for (const { turnOf, parts } of paragraphs) {
    if (turnOf !== "") body += paragraph("Speaker", xmlText(turnOf));
    body += paragraph(options.times ? "Timed_20_Text" : "Text", spansOf(parts));
    if (body.length > charsMax) return undefined;
  }
  return body;
}

function paragraph(style: string, content: string): string {
  return `<text:p text:style-name="${style}">${content}</text:p>`;
}

function spansOf(parts: readonly DocumentPart[]): string {
  return parts
    .map(({ time, text }, index) => {
      const space = index === 0 ? "" : " ";
      if (time === "") return space + xmlText(text);
      const span = `<text:span text:style-name="Time">${time}</text:span>`;
      return `${space}${span}${index === 0 ? "<text:tab/>" : " "}${xmlText(text)}`;
    })
    .join("");
}

const manifest =
  `${xmlHead}<manifest:manifest xmlns:manifest="${namespace}:manifest:1.0" manifest:version="1.3">` +
  [
    ["/", mediaType],
    ["content.xml", "text/xml"],
    ["styles.xml", "text/xml"],
    ["meta.xml", "text/xml"],
  ]
    .map(
      ([path, type]) =>
        `<manifest:file-entry manifest:full-path="${path}" manifest:media-type="${type}"/>`,
    )
    .join("") +
  "</manifest:manifest>";

const timeMargin = "2.2cm";

function stylesOf(language: DocumentLanguage): string {
  const mode = `style:writing-mode="${language.isRightToLeft ? "rl-tb" : "lr-tb"}"`;
  return (
    `<office:styles>${defaultStyle(language, mode)}` +
    paragraphStyle("Text", "Text", "") +
    paragraphStyle(
      "Timed_20_Text",
      "Timed Text",
      `<style:paragraph-properties fo:margin-left="${timeMargin}" fo:margin-right="0cm" ` +
        `fo:text-indent="-${timeMargin}"><style:tab-stops><style:tab-stop style:position="0cm"/>` +
        "</style:tab-stops></style:paragraph-properties>",
    ) +
    paragraphStyle(
      "Title",
      "Title",
      '<style:paragraph-properties fo:margin-bottom="0.6cm" fo:keep-with-next="always"/>' +
        `<style:text-properties ${size("18pt")} ${bold}/>`,
    ) +
    paragraphStyle(
      "Speaker",
      "Speaker",
      '<style:paragraph-properties fo:margin-top="0.42cm" fo:margin-bottom="0.1cm" ' +
        `fo:keep-with-next="always"/><style:text-properties ${bold}/>`,
    ) +
    paragraphStyle(
      "Footer",
      "Footer",
      '<style:paragraph-properties fo:text-align="center" style:justify-single-word="false"/>',
    ) +
    '<style:style style:name="Time" style:family="text"><style:text-properties ' +
    `fo:color="#595959" ${size("9pt")}/></style:style></office:styles>` +
    `<office:automatic-styles>${pageLayout(mode)}</office:automatic-styles>` +
    '<office:master-styles><style:master-page style:name="Standard" ' +
    'style:page-layout-name="Page"><style:footer><text:p text:style-name="Footer">' +
    "<text:page-number>1</text:page-number></text:p></style:footer></style:master-page>" +
    "</office:master-styles>"
  );
}

const bold =
  'fo:font-weight="bold" style:font-weight-asian="bold" style:font-weight-complex="bold"';

function size(points: string): string {
  return `fo:font-size="${points}" style:font-size-asian="${points}" style:font-size-complex="${points}"`;
}

function defaultStyle({ tag, language, country }: DocumentLanguage, mode: string): string {
  const place = country === "" ? "none" : country;
  const languages =
    `fo:language="${language}" fo:country="${place}" style:rfc-language-tag="${tag}" ` +
    `style:language-asian="${language}" style:country-asian="${place}" ` +
    `style:language-complex="${language}" style:country-complex="${place}"`;
  return (
    '<style:default-style style:family="paragraph"><style:paragraph-properties ' +
    `fo:margin-bottom="0.21cm" fo:line-height="115%" ${mode}/>` +
    `<style:text-properties fo:font-family="Calibri" ${size("11pt")} ${languages}/>` +
    "</style:default-style>"
  );
}

function paragraphStyle(name: string, shown: string, properties: string): string {
  const parent = name === "Text" ? "" : ' style:parent-style-name="Text"';
  const following = name === "Title" || name === "Speaker" ? ' style:next-style-name="Text"' : "";
  return (
    `<style:style style:name="${name}" style:display-name="${shown}" style:family="paragraph"` +
    `${parent}${following}>${properties}</style:style>`
  );
}

/** A4, with margins of 2.5 cm. */
function pageLayout(mode: string): string {
  return (
    '<style:page-layout style:name="Page"><style:page-layout-properties fo:page-width="21cm" ' +
    'fo:page-height="29.7cm" fo:margin-top="2.5cm" fo:margin-bottom="1.25cm" ' +
    `fo:margin-left="2.5cm" fo:margin-right="2.5cm" ${mode}/>` +
    '<style:footer-style><style:header-footer-properties fo:min-height="1.25cm" ' +
    'fo:margin-top="0.6cm"/></style:footer-style></style:page-layout>'
  );
}

function metaOf(title: string, { tag }: DocumentLanguage): string {
  return (
    `<office:meta><dc:title>${xmlText(title)}</dc:title>` +
    `<dc:language>${tag}</dc:language></office:meta>`
  );
}
