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
 * The comments of a contract, by the full name of the declaration below each comment. Enum values
 * are listed under their enum.
 */
export interface Comments {
  /**
   * Returns the comment as Markdown, with its paragraphs separated by an empty line; "" if there is
   * no comment.
   */
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

/** Joins the lines of each paragraph. The line breaks of the source have no meaning. */
function joined(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll("\n", " "))
    .join("\n\n");
}

/** Splits a comment into its first paragraph, without the final period, and the rest. */
export function summaryOf(comment: string): { summary: string; description: string } {
  const [first = "", ...rest] = comment.split("\n\n");
  return { summary: first.replace(/\.$/, ""), description: rest.join("\n\n") };
}
