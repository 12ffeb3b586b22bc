import type { DescField } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { isLeaf, leafText } from "./leaf-text.ts";
import { encodeFully } from "./percent-encoding.ts";
import { systemParameters } from "./system-parameters.ts";

/** Reports why a field cannot be sent. `field` is the field's path in JSON names. */
export type ReportField = (field: string, problem: string) => void;

/**
 * Writes the set fields of a request message as a query without its "?" (§4.10 items 1 to 4):
 * nested fields with dotted JSON names, lists as one parameter per item, and values in proto3 JSON.
 * `isElsewhere` returns whether a field, given by its path in proto names, is in the path or the
 * body. Reports fields that a query cannot express.
 */
export function writeQuery(
  message: ReflectMessage,
  isElsewhere: (path: string) => boolean,
  report: ReportField,
): string {
  const query = new QueryWriter(isElsewhere, report);
  query.writeFields(message, "", "");
  return query.pairs.join("&");
}

const systemNames: ReadonlySet<string> = new Set(systemParameters);

class QueryWriter {
  readonly pairs: string[] = [];
  readonly #isElsewhere: (path: string) => boolean;
  readonly #report: ReportField;

  constructor(isElsewhere: (path: string) => boolean, report: ReportField) {
    this.#isElsewhere = isElsewhere;
    this.#report = report;
  }

  /**
   * Writes the fields. Returns whether the request contains any of these fields, which shows that
   * the message is set.
   */
  writeFields(message: ReflectMessage, names: string, path: string): boolean {
    let isSaid = false;
    for (const field of message.sortedFields) {
      const name = `${names}${field.jsonName}`;
      const fieldPath = `${path}${field.name}`;
      if (this.#isElsewhere(fieldPath)) isSaid = true;
      else if (message.isSet(field)) {
        this.#writeField(message, field, name, fieldPath);
        isSaid = true;
      }
    }
    return isSaid;
  }

  #writeField(message: ReflectMessage, field: DescField, name: string, path: string): void {
    if (field.fieldKind === "map") {
      this.#report(name, "it is a map, which cannot be in a query");
    } else if (field.fieldKind === "list") {
      if (!isLeaf(field)) {
        this.#report(name, "it is a list of messages, which cannot be in a query");
        return;
      }
      for (const item of message.get(field)) this.#writePair(field, item, name);
    } else if (field.fieldKind !== "message" || isLeaf(field)) {
      this.#writePair(field, message.get(field), name);
    } else if (valueTypes.has(field.message.typeName)) {
      this.#report(name, "it is JSON of any shape, which cannot be in a query");
    } else if (!this.writeFields(message.get(field), `${name}.`, `${path}.`)) {
      this.#report(name, "it is a message without fields, which cannot be in a query");
    }
  }

  #writePair(field: DescField, value: unknown, name: string): void {
    if (systemNames.has(name) || name.startsWith("$")) {
      this.#report(name, "the name belongs to a parameter of every call");
      return;
    }
    try {
      this.pairs.push(`${encodeFully(name)}=${encodeFully(leafText(field, value))}`);
    } catch (error) {
      this.#report(name, error instanceof Error ? error.message : String(error));
    }
  }
}

/** The messages whose JSON is neither a single value nor an object of their fields. */
const valueTypes: ReadonlySet<string> = new Set([
  "google.protobuf.Any",
  "google.protobuf.ListValue",
  "google.protobuf.Struct",
  "google.protobuf.Value",
]);
