// The part of the OpenAPI document (/openapi.json) that a call needs.

export interface DescribedSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly $ref?: string;
  readonly allOf?: readonly DescribedSchema[];
}

export interface DescribedParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: DescribedSchema;
  /** Whether slashes of a value in the path are not escaped. */
  readonly "x-multiSegment"?: boolean;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly parameters?: readonly DescribedParameter[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly examples?: Readonly<Record<string, { readonly value: unknown }>> }>
    >;
  };
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, DescribedSchema>> };
}

/** A method as it is called over HTTP. */
export interface DescribedCall {
  readonly method: string;
  /** The path with its parameters, as /v1alpha1/transcripts/{transcript}. */
  readonly path: string;
  readonly parameters: readonly DescribedParameter[];
  /** An example of the body; undefined if the method has none. */
  readonly body: unknown;
}

let description: Promise<Description> | undefined;

/** Returns the description of the service; it is loaded once, and again after a failure. */
function loadDescription(): Promise<Description> {
  description ??= fetch("openapi.json").then(async (response): Promise<Description> => {
    if (!response.ok) throw new Error(`openapi.json: ${response.status}`);
    return await response.json();
  });
  description.catch(() => {
    description = undefined;
  });
  return description;
}

/** Returns the call of an operation, and a function that returns the values of its enums. */
export async function describeCall(
  operationId: string,
): Promise<DescribedCall & { readonly valuesOf: (schema: DescribedSchema) => string[] }> {
  const { paths, components } = await loadDescription();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId !== operationId) continue;
      const { parameters = [], requestBody } = operation;
      const examples = Object.values(requestBody?.content["application/json"]?.examples ?? {});
      const body = requestBody && (examples[0]?.value ?? {});
      return {
        method: method.toUpperCase(),
        path,
        parameters,
        body,
        valuesOf: (schema) => valuesOf(schema, components.schemas),
      };
    }
  }
  throw new Error(`openapi.json has no ${operationId}`);
}

const referencePrefix = "#/components/schemas/";

function valuesOf(
  schema: DescribedSchema,
  schemas: Readonly<Record<string, DescribedSchema>>,
): string[] {
  if (schema.type === "boolean") return ["true", "false"];
  const { $ref = "", enum: values = [], allOf = [] } = schema;
  const referred = $ref.startsWith(referencePrefix)
    ? schemas[$ref.slice(referencePrefix.length)]
    : undefined;
  const own = values.filter((value) => typeof value === "string");
  const others = [...(referred ? [referred] : []), ...allOf];
  return [...own, ...others.flatMap((other) => valuesOf(other, schemas))];
}

/**
 * Returns the path of a call with its query. Parameters without a value are left out of the query.
 */
export function targetOf(
  { path, parameters }: Pick<DescribedCall, "path" | "parameters">,
  values: ReadonlyMap<string, string>,
): string {
  const query = new URLSearchParams();
  let target = path;
  for (const parameter of parameters) {
    const { name, in: place } = parameter;
    const value = values.get(name) ?? "";
    if (place === "path") {
      const parts = parameter["x-multiSegment"] === true ? value.split("/") : [value];
      target = target.replace(`{${name}}`, parts.map(encodeURIComponent).join("/"));
    } else if (place === "query" && value !== "") {
      // A list has a comma between its values.
      const all = parameter.schema.type === "array" ? value.split(",") : [value];
      for (const each of all) query.append(name, each.trim());
    }
  }
  return query.size === 0 ? target : `${target}?${query.toString()}`;
}
