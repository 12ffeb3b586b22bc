import type {
  DescEnum,
  DescEnumValue,
  DescField,
  DescMessage,
  DescMethod,
  DescService,
} from "@bufbuild/protobuf";

type Described = DescEnum | DescEnumValue | DescField | DescMessage | DescMethod | DescService;

/**
 * Comments of a contract by the full name of what they stand over; values of enums are named under
 * their enum.
 */
export interface Comments {
  /** As Markdown, "" where there is none: paragraphs are apart by an empty line. */
  of(described: Described): string;
}

export function createComments(byName: Readonly<Record<string, string>>): Comments {
  return {
    of: (described) => {
      const name = nameOf(described);
      return Object.hasOwn(byName, name) ? joined(byName[name] ?? "") : "";
    },
  };
}

function nameOf(described: Described): string {
  if (described.kind === "message" || described.kind === "enum" || described.kind === "service") {
    return described.typeName;
  }
  return `${described.parent.typeName}.${described.name}`;
}

/** Lines of a paragraph are one line: where the source wraps means nothing. */
function joined(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll("\n", " "))
    .join("\n\n");
}

/** The first paragraph without its full stop, and the rest. */
export function summaryOf(comment: string): { summary: string; description: string } {
  const [first = "", ...rest] = comment.split("\n\n");
  return { summary: first.replace(/\.$/, ""), description: rest.join("\n\n") };
}
