import type { Registry } from "@bufbuild/protobuf";
import type { FieldViolation } from "../std/service-error.ts";

/**
 * The maximum number of violations in a request. More would not help a caller, so an invalid body
 * is not read any further.
 */
const violationsMax = 100;

/** Collects the violations in a JSON value, with paths of JSON names from that value down. */
export class JsonReport {
  readonly #violations: FieldViolation[] = [];
  /** The types that a google.protobuf.Any can contain. */
  readonly registry: Registry | undefined;

  /** Whether unknown fields are ignored. */
  readonly ignoresUnknown: boolean;

  constructor(registry: Registry | undefined, { ignoresUnknown = false } = {}) {
    this.registry = registry;
    this.ignoresUnknown = ignoresUnknown;
  }

  get violations(): readonly FieldViolation[] {
    return this.#violations;
  }

  get isFull(): boolean {
    return this.#violations.length >= violationsMax;
  }

  /** Adds a violation for the current value, or for the part of it that `field` names. */
  add(description: string, field = ""): void {
    if (!this.isFull) this.#violations.push({ field: clipped(field), description });
  }

  /**
   * Prepends `part`, which is a name or [an index], to the paths of the violations from number
   * `from` on.
   */
  prefix(from: number, part: string): void {
    for (let index = from; index < this.#violations.length; index++) {
      const { field = "", description = "" } = this.#violations[index] ?? {};
      const joint = field === "" || field.startsWith("[") ? "" : ".";
      this.#violations[index] = { field: `${part}${joint}${field}`, description };
    }
  }
}

/** Shortens a name, since names come from the client and can have any length. */
function clipped(name: string): string {
  return name.length > 60 ? `${name.slice(0, 57)}...` : name;
}
