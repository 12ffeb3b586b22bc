import type { JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../is-object.ts";

/**
 * Formats JSON for readers. A value that fits within `width` characters is on one line. Other
 * values are indented by two spaces.
 */
export function jsonLayout(value: JsonValue, width: number): string {
  return layout(value, width, "", 0);
}

function layout(value: JsonValue, width: number, indent: string, before: number): string {
  const line = oneLine(value);
  if (indent.length + before + line.length <= width) return line;
  const deeper = `${indent}  `;
  if (Array.isArray(value) && value.length > 0) {
    const items = value.map((item) => `${deeper}${layout(item, width, deeper, 0)}`);
    return `[\n${items.join(",\n")}\n${indent}]`;
  }
  if (isObject(value) && Object.keys(value).length > 0) {
    const members = Object.entries(value).map(([name, member]) => {
      const key = `${JSON.stringify(name)}: `;
      return `${deeper}${key}${layout(member, width, deeper, key.length)}`;
    });
    return `{\n${members.join(",\n")}\n${indent}}`;
  }
  return line;
}

function oneLine(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`,
  );
  return `{${members.join(", ")}}`;
}
