import { documentLanguage, type DocumentLanguage } from "./document-language.ts";
import type { DocumentParagraph, DocumentPart, FileOptions } from "./paragraphs.ts";
import { xmlHead, xmlText } from "./xml-text.ts";
import { zipPackage } from "./zip-package.ts";

/** What a document contains. */
export interface DocumentContent {
  /** The subject of the transcript; "" if it has none. */
  readonly title: string;
  readonly languageCode: string;
  readonly paragraphs: Iterable<DocumentParagraph>;
  readonly options: FileOptions;
  /** The maximum size of the text in characters of XML. */
  readonly charsMax: number;
}

const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const r = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
const packages = "http://schemas.openxmlformats.org/package/2006";
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const media = "application/vnd.openxmlformats-officedocument.wordprocessingml";

/**
 * Writes a document in Office Open XML (ECMA-376): a title, a heading for each turn of a speaker,
 * paragraphs with their times in the margin, and page numbers. Returns undefined if the XML would
 * be longer than `charsMax`.
 */
export function writeDocx(content: DocumentContent): Uint8Array | undefined {
  const language = documentLanguage(content.languageCode);
  const body = bodyOf(content);
  if (body === undefined) return undefined;
  return zipPackage([
    ["[Content_Types].xml", contentTypes],
    ["_rels/.rels", packageRelations],
    ["word/document.xml", `${xmlHead}<w:document ${w} ${r}><w:body>${body}</w:body></w:document>`],
    ["word/_rels/document.xml.rels", documentRelations],
    ["word/styles.xml", stylesXml(language)],
    ["word/settings.xml", settingsXml(language)],
    ["word/footer1.xml", footer],
    ["docProps/core.xml", coreXml(content.title, language)],
  ]);
}

/** A4, with margins of 2.5 cm, in twentieths of a point. */
const section =
  '<w:sectPr><w:footerReference w:type="default" r:id="rId3"/><w:pgSz w:w="11906" w:h="16838"/>' +
  '<w:pgMar w:top="1417" w:right="1417" w:bottom="1417" w:left="1417" w:header="709" ' +
  'w:footer="709" w:gutter="0"/></w:sectPr>';

function bodyOf({ title, paragraphs, options, charsMax }: DocumentContent): string | undefined {
  let body = options.title && title !== "" ? paragraph("Title", run(title)) : "";
  for (const { turnOf, parts } of paragraphs) {
    if (turnOf !== "") body += paragraph("Speaker", run(turnOf));
    body += paragraph(options.times ? "TimedText" : "Text", runsOf(parts));
    if (body.length > charsMax) return undefined;
  }
  return body + section;
}

function paragraph(style: string, runs: string): string {
  return `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr>${runs}</w:p>`;
}

function runsOf(parts: readonly DocumentPart[]): string {
  return parts
    .map(({ time, text }, index) => {
      const space = index === 0 ? "" : " ";
      if (time === "") return run(space + text);
      const after = index === 0 ? "<w:r><w:tab/></w:r>" : "";
      const before = index === 0 ? "" : run(space);
      return `${before}${run(time, "Time")}${after}${run(index === 0 ? text : ` ${text}`)}`;
    })
    .join("");
}

function run(text: string, style?: string): string {
  const properties = style === undefined ? "" : `<w:rPr><w:rStyle w:val="${style}"/></w:rPr>`;
  return `<w:r>${properties}<w:t xml:space="preserve">${xmlText(text)}</w:t></w:r>`;
}

const contentTypes =
  `${xmlHead}<Types xmlns="${packages}/content-types">` +
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
  '<Default Extension="xml" ContentType="application/xml"/>' +
  [
    ["/word/document.xml", `${media}.document.main+xml`],
    ["/word/styles.xml", `${media}.styles+xml`],
    ["/word/settings.xml", `${media}.settings+xml`],
    ["/word/footer1.xml", `${media}.footer+xml`],
    ["/docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml"],
  ]
    .map(([part, type]) => `<Override PartName="${part}" ContentType="${type}"/>`)
    .join("") +
  "</Types>";

const packageRelations = relations([
  [`${office}/officeDocument`, "word/document.xml"],
  [`${packages}/relationships/metadata/core-properties`, "docProps/core.xml"],
]);

const documentRelations = relations([
  [`${office}/styles`, "styles.xml"],
  [`${office}/settings`, "settings.xml"],
  [`${office}/footer`, "footer1.xml"],
]);

function relations(targets: readonly (readonly [type: string, target: string])[]): string {
  const list = targets.map(
    ([type, target], index) =>
      `<Relationship Id="rId${index + 1}" Type="${type}" Target="${target}"/>`,
  );
  return `${xmlHead}<Relationships xmlns="${packages}/relationships">${list.join("")}</Relationships>`;
}

const footer =
  `${xmlHead}<w:ftr ${w}><w:p><w:pPr><w:pStyle w:val="Footer"/></w:pPr>` +
  '<w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple></w:p></w:ftr>';

/** The width of the margin that has the times, in twentieths of a point. */
const timeMargin = 1247;

function stylesXml({ tag, isRightToLeft }: DocumentLanguage): string {
  const direction = isRightToLeft ? "<w:bidi/>" : "";
  const letters = isRightToLeft ? "<w:rtl/>" : "";
  const lang = `<w:lang w:val="${tag}" w:eastAsia="${tag}" w:bidi="${tag}"/>`;
  const hanging =
    `<w:tabs><w:tab w:val="left" w:pos="${timeMargin}"/></w:tabs>` +
    `<w:ind w:left="${timeMargin}" w:hanging="${timeMargin}"/>`;
  const styles = [
    style("Text", "Normal", { isDefault: true }),
    style("TimedText", "Timed Text", { isOwn: true, paragraph: hanging }),
    style("Title", "Title", {
      paragraph: '<w:keepNext/><w:spacing w:after="360"/>',
      letters: '<w:b/><w:sz w:val="36"/><w:szCs w:val="36"/>',
      next: "Text",
    }),
    style("Speaker", "Speaker", {
      isOwn: true,
      paragraph: '<w:keepNext/><w:spacing w:before="240" w:after="60"/>',
      letters: "<w:b/><w:bCs/>",
      next: "Text",
    }),
    style("Footer", "footer", { paragraph: '<w:jc w:val="center"/>' }),
    '<w:style w:type="character" w:customStyle="1" w:styleId="Time"><w:name w:val="Time"/><w:rPr>' +
      '<w:color w:val="595959"/><w:sz w:val="18"/><w:szCs w:val="18"/></w:rPr></w:style>',
  ];
  return (
    `${xmlHead}<w:styles ${w}><w:docDefaults><w:rPrDefault><w:rPr>` +
    '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Calibri" w:cs="Calibri"/>' +
    `<w:sz w:val="22"/><w:szCs w:val="22"/>${letters}${lang}</w:rPr></w:rPrDefault>` +
    `<w:pPrDefault><w:pPr>${direction}<w:spacing w:after="120" w:line="276" w:lineRule="auto"/>` +
    `</w:pPr></w:pPrDefault></w:docDefaults>${styles.join("")}</w:styles>`
  );
}

function style(
  id: string,
  name: string,
  options: {
    readonly isDefault?: boolean;
    /** Whether the name is none of those that the format knows. */
    readonly isOwn?: boolean;
    readonly paragraph?: string;
    readonly letters?: string;
    readonly next?: string;
  },
): string {
  const { isDefault = false, isOwn = false, paragraph = "", letters = "", next } = options;
  const base = isDefault ? "" : '<w:basedOn w:val="Text"/>';
  const following = next === undefined ? "" : `<w:next w:val="${next}"/>`;
  return (
    `<w:style w:type="paragraph"${isDefault ? ' w:default="1"' : ""}` +
    `${isOwn ? ' w:customStyle="1"' : ""} w:styleId="${id}">` +
    `<w:name w:val="${name}"/>${base}${following}<w:qFormat/>` +
    `<w:pPr>${paragraph}</w:pPr><w:rPr>${letters}</w:rPr></w:style>`
  );
}

function settingsXml({ tag }: DocumentLanguage): string {
  return (
    `${xmlHead}<w:settings ${w}><w:compat><w:compatSetting w:name="compatibilityMode" ` +
    'w:uri="http://schemas.microsoft.com/office/word" w:val="15"/></w:compat>' +
    `<w:themeFontLang w:val="${tag}"/></w:settings>`
  );
}

function coreXml(title: string, { tag }: DocumentLanguage): string {
  return (
    `${xmlHead}<cp:coreProperties xmlns:cp="${packages}/metadata/core-properties" ` +
    'xmlns:dc="http://purl.org/dc/elements/1.1/">' +
    `<dc:title>${xmlText(title)}</dc:title><dc:language>${tag}</dc:language></cp:coreProperties>`
  );
}
