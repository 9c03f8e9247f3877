import type { JsonObject, NamedSchemas } from "../../named-schemas.ts";
import { bodySamples, namedSamples, objectSamples, type Sample } from "./sample-bodies.ts";
import { sampleTimes } from "./sample-parts.ts";
import { endingSamples, numberSamples, requestMembers, stringSamples } from "./sample-values.ts";

const REFERENCE = "#/components/schemas/";

/**
 * Builds an example of a JSON Schema of this contract: with all members, each list with one entry, each
 * choice with its first branch that is not null. Members get the sample of their name if the schema takes
 * it. Refuses nothing: a test checks that every example is valid.
 *
 * @param name the member that the value is for; the operation for a whole body
 */
function buildExample(schema: JsonObject, name: string, definitions: NamedSchemas): unknown {
  return build(schema, name, { operation: name, definitions, within: [] });
}

/**
 * Builds an example of a request's body: the members that it must have, and those optional ones that
 * callers of the operation usually send.
 */
export function buildRequestExample(
  schema: JsonObject,
  operation: string,
  definitions: NamedSchemas,
): unknown {
  return buildExample(leaveOutOptions(schema, operation), operation, definitions);
}

function leaveOutOptions(schema: JsonObject, operation: string): JsonObject {
  const {
    anyOf,
    properties,
    required = [],
  } = schema as {
    anyOf?: readonly JsonObject[];
    properties?: JsonObject;
    required?: readonly string[];
  };
  if (anyOf !== undefined) {
    return { ...schema, anyOf: anyOf.map((branch) => leaveOutOptions(branch, operation)) };
  }
  if (properties === undefined) return schema;
  const wanted = new Set([...required, ...(requestMembers[operation] ?? [])]);
  const members = Object.entries(properties).filter(([name]) => wanted.has(name));
  return { ...schema, properties: Object.fromEntries(members) };
}

/** Builds an example of the body of an answer with a status. */
export function buildAnswerExample(
  schema: JsonObject,
  { operation, status }: { readonly operation: string; readonly status: string },
  definitions: NamedSchemas,
): unknown {
  const sample = bodySamples[`${operation} ${status}`] ?? bodySamples[operation];
  return sample ?? buildExample(schema, operation, definitions);
}

interface Place {
  readonly operation: string;
  readonly definitions: NamedSchemas;
  /** The named schemas that contain this position, because an example must not contain itself. */
  readonly within: readonly string[];
}

function build(schema: JsonObject, name: string, place: Place): unknown {
  const { $ref, const: constant, enum: words, default: preset, type } = schema;
  if (typeof $ref === "string") return buildNamed($ref.slice(REFERENCE.length), name, place);
  if (constant !== undefined) return constant;
  if (Array.isArray(words)) return chooseWord(words, name);
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches)) return buildBranch(branches as JsonObject[], name, place);
  switch (type) {
    case "object":
      return buildObject(schema, name, place);
    case "array":
      return buildList(schema, name, place);
    case "string":
      return buildText(schema, name, place);
    case "number":
    case "integer":
      return typeof preset === "number" ? preset : buildNumber(schema, name);
    case "boolean":
      return typeof preset === "boolean" ? preset : true;
    case "null":
      return null;
    default:
      return {};
  }
}

function buildNamed(reference: string, name: string, place: Place): unknown {
  const { definitions, within } = place;
  const schema = definitions[reference];
  if (schema === undefined || within.includes(reference)) return {};
  return (
    namedSamples[reference] ?? build(schema, name, { ...place, within: [...within, reference] })
  );
}

function buildBranch(branches: readonly JsonObject[], name: string, place: Place): unknown {
  const [first = { type: "null" }] = branches.filter(({ type }) => type !== "null");
  return build(first, name, place);
}

function buildObject(schema: JsonObject, name: string, place: Place): unknown {
  const members = Object.entries(
    (schema["properties"] ?? {}) as Readonly<Record<string, JsonObject>>,
  );
  if (members.length > 0) {
    return Object.fromEntries(members.map(([key, member]) => [key, build(member, key, place)]));
  }
  const sample: Sample = objectSamples[`${place.operation}.${name}`] ?? objectSamples[name] ?? {};
  return typeof sample === "string" ? buildNamed(sample, name, place) : sample;
}

function buildList(schema: JsonObject, name: string, place: Place): unknown[] {
  const { items, minItems = 1 } = schema as { items?: JsonObject; minItems?: number };
  if (items === undefined) return [];
  const { $ref } = items;
  const isItself = typeof $ref === "string" && place.within.includes($ref.slice(REFERENCE.length));
  if (isItself) return [];
  return Array.from({ length: Math.max(1, minItems) }, () => build(items, name, place));
}

/** Uses the sample for the name if it is one of the words, which may have other meanings elsewhere. */
function chooseWord(words: readonly unknown[], name: string): unknown {
  const sample = stringSamples[name];
  return words.includes(sample) ? sample : words[0];
}

function buildText(
  { pattern, maxLength, minLength }: JsonObject,
  name: string,
  { operation }: Place,
): string {
  const [, byEnding] = endingSamples.find(([ending]) => ending.test(name)) ?? [];
  const named = stringSamples[`${operation}.${name}`] ?? stringSamples[name] ?? byEnding;
  const others =
    pattern === undefined
      ? []
      : [...endingSamples.map(([, text]) => text), ...Object.values(stringSamples)];
  const fits = (text: string | undefined) =>
    text !== undefined &&
    (typeof pattern !== "string" || new RegExp(pattern, "u").test(text)) &&
    text.length <= Number(maxLength ?? text.length) &&
    text.length >= Number(minLength ?? 0);
  return [named, ...others].find(fits) ?? name.replaceAll("_", " ");
}

function buildNumber(schema: JsonObject, name: string): number {
  const { minimum, maximum, exclusiveMaximum } = schema;
  const low = Number(minimum ?? 0);
  const high = Number(maximum ?? Number(exclusiveMaximum ?? Infinity) - 0.5);
  const isTime =
    /_(at|until)$|^(at|now|since|until|timestamp|from|to|valid_(from|until)|deadline|start|end)$/.test(
      name,
    );
  const general = isTime ? sampleTimes.now : name.endsWith("_ms") ? sampleTimes.duration : 1;
  const wanted = numberSamples[name] ?? general;
  return Math.min(Math.max(wanted, low), high);
}
