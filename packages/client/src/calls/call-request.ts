import type { Operation, PathParams } from "@agent/wire";
import type * as v from "valibot";

type EmptyObject = Record<never, never>;
type Optional<Name extends string, T> = EmptyObject extends T
  ? { readonly [K in Name]?: T }
  : { readonly [K in Name]: T };

/** A query is text on the wire; numbers are accepted where it is a string of digits. */
type QueryInput<T> = { readonly [K in keyof T]: string extends T[K] ? T[K] | number : T[K] };

/** The input of an operation; absent parts and parts whose members are all optional may be omitted. */
export type CallRequest<O extends Operation> = (O["path"] extends `${string}:${string}`
  ? { readonly params: PathParams<O["path"]> }
  : EmptyObject) &
  (O extends { readonly query: infer S extends v.GenericSchema }
    ? Optional<"query", QueryInput<v.InferInput<S>>>
    : EmptyObject) &
  (O extends { readonly body: infer S extends v.GenericSchema }
    ? { readonly body: v.InferInput<S> }
    : EmptyObject);

/** A request without its types. */
export interface UntypedRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
}

/**
 * Builds the path with its parameters and query; returns null if a parameter cannot be a path segment: `.`
 * and `..` would leave the path in any encoding.
 */
export function buildPath(
  pattern: string,
  { params = {}, query = {} }: UntypedRequest,
): string | null {
  const segments: string[] = [];
  for (const segment of pattern.split("/")) {
    const value = segment.startsWith(":") ? params[segment.slice(1)] : segment;
    if (value === undefined || value === "." || value === ".." || !value.isWellFormed())
      return null;
    if (value === "" && segment !== "") return null;
    segments.push(encodeURIComponent(value));
  }
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  const path = segments.join("/");
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

/**
 * Returns the name of the first parameter that is missing or cannot be a path segment; undefined if all are
 * valid.
 */
export function findMissingParam(
  pattern: string,
  { params = {} }: UntypedRequest,
): string | undefined {
  const names = pattern.split("/").flatMap((part) => (part.startsWith(":") ? [part.slice(1)] : []));
  return names.find((name) => buildPath(`/:${name}`, { params }) === null);
}

/** Joins a relay's address, which may have a base path, with a path of the contract. */
export function buildUrl(baseUrl: string, path: string): string {
  return baseUrl.replace(/\/+$/, "") + path;
}
