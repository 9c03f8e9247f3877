import * as v from "valibot";
import { isPlainObject, readJsonText, unlessMalformed } from "@agent/crypto";
import { hashData } from "./data-integrity.ts";
import type { DocumentKind } from "./refusals.ts";
import {
  type DataIntegrityProof,
  type VerifiableCredential,
  VerifiableCredentialSchema,
  type VerifiablePresentation,
  VerifiablePresentationSchema,
} from "./schema.ts";

/** The fault of a malformed document: the member and the rule that it breaks, never its content. */
export interface DocumentFault<K extends DocumentKind = DocumentKind> {
  readonly ok: false;
  readonly code: `${K}.malformed`;
  /** The path of the member, joined with dots; empty if the fault is in no single member. */
  readonly path: string;
  readonly message: string;
}

interface ParsedDocument<Document> {
  readonly ok: true;
  readonly document: Document;
  /** The bytes that its proof must sign. */
  readonly signedBytes: Uint8Array;
}

/**
 * Parses a credential, given as a value or as its JSON text. Does not check its proof, its dates or
 * its subject. The returned credential is the value itself, unknown members included. Refuses with
 * `credential.malformed`.
 */
export function parseCredential(
  value: unknown,
): { readonly ok: true; readonly credential: VerifiableCredential } | DocumentFault<"credential"> {
  const read = parseSignedCredential(value);
  return read.ok ? { ok: true, credential: read.document } : read;
}

/** Parses like `parseCredential` and returns the bytes for the signature check as well. */
export function parseSignedCredential(
  value: unknown,
): ParsedDocument<VerifiableCredential> | DocumentFault<"credential"> {
  return parseDocument("credential", VerifiableCredentialSchema, value);
}

/** Parses a presentation, given as a value or as its JSON text. */
export function parseSignedPresentation(
  value: unknown,
): ParsedDocument<VerifiablePresentation> | DocumentFault<"presentation"> {
  return parseDocument("presentation", VerifiablePresentationSchema, value);
}

function parseDocument<K extends DocumentKind, Document extends { proof: DataIntegrityProof }>(
  kind: K,
  schema: v.GenericSchema<Document>,
  input: unknown,
): ParsedDocument<Document> | DocumentFault<K> {
  const malformed = (path: string, message: string): DocumentFault<K> => ({
    ok: false,
    code: `${kind}.malformed`,
    path,
    message,
  });
  const parsed = typeof input === "string" ? readJsonText(input) : { value: input };
  if ("fault" in parsed) return malformed(parsed.fault.path, parsed.fault.message);
  if (!isPlainObject(parsed.value)) return malformed("", "must be a JSON object");
  const checked = v.safeParse(schema, parsed.value, { abortEarly: true });
  if (!checked.success) {
    const [issue] = checked.issues;
    return malformed(v.getDotPath(issue) ?? "", issue.message);
  }
  // The original value, because valibot's output lacks members called __proto__, which are signed too.
  const document = parsed.value as Document;
  const signedBytes = unlessMalformed(() => hashData(document));
  return signedBytes === undefined
    ? malformed("", "must be plain JSON data of at most 64 levels, without lone surrogates")
    : { ok: true, document, signedBytes };
}
