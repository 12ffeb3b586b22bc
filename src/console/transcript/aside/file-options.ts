/** What a file with paragraphs shows; the names are those of ExportOptions. */
export interface DocumentOptions {
  readonly speakers: boolean;
  readonly times: boolean;
  readonly title: boolean;
  /** The seconds after which a paragraph has another time; 0 for none. */
  readonly intervalSeconds: number;
}

/** What files of subtitles show. In SRT, a name is a part of the text. */
export interface SubtitleOptions {
  readonly srtSpeakers: boolean;
  readonly vttSpeakers: boolean;
  readonly lineChars: number;
  readonly lines: number;
}

/** The options of all formats. */
export interface FileOptions {
  readonly documents: DocumentOptions;
  readonly text: DocumentOptions;
  readonly subtitles: SubtitleOptions;
}

/** The options at first: those that the service has by itself. */
export const firstOptions: FileOptions = {
  documents: { speakers: true, times: true, title: true, intervalSeconds: 0 },
  text: { speakers: true, times: false, title: false, intervalSeconds: 0 },
  subtitles: { srtSpeakers: false, vttSpeakers: true, lineChars: 42, lines: 2 },
};

/** Returns the options of a format as query parameters of :export. */
export function optionsQuery(format: string, options: FileOptions): Record<string, string> {
  switch (format) {
    case "TEXT":
      return documentQuery(options.text);
    case "DOCX":
    case "ODT":
      return documentQuery(options.documents);
    case "SRT":
    case "VTT": {
      const { srtSpeakers, vttSpeakers, lineChars, lines } = options.subtitles;
      return {
        "options.speakers": `${format === "SRT" ? srtSpeakers : vttSpeakers}`,
        "options.lineChars": `${lineChars}`,
        "options.lines": `${lines}`,
      };
    }
    default:
      return {};
  }
}

function documentQuery({ speakers, times, title, intervalSeconds }: DocumentOptions) {
  return {
    "options.speakers": `${speakers}`,
    "options.times": times ? "PARAGRAPH" : "NONE",
    "options.title": `${title}`,
    "options.intervalSeconds": `${times ? intervalSeconds : 0}`,
  };
}
