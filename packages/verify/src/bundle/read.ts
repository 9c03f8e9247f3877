import { canonicalize, CanonicalJsonError, parseJsonText, SUITE } from "@agent/crypto";
import * as v from "valibot";
import { keyOfDid } from "../bound-key.ts";
import type { BundleRefusal } from "../refusals.ts";
import { BUNDLE_SPEC, BundleSchema, type EvidenceBundle } from "./schema.ts";

type Read =
  | { readonly ok: true; readonly bundle: EvidenceBundle; readonly relayKey: string }
  | { readonly ok: false; readonly code: BundleRefusal };

/** Checks the form of a bundle, given as a value or as its text, which has to be its canonical JSON. */
export function readBundle(input: unknown): Read {
  const parsed = typeof input === "string" ? parseJsonText(input) : { value: input };
  if (parsed === null || !v.is(BundleSchema, parsed.value)) return refused("bundle.malformed");
  const text = canonicalText(parsed.value);
  if (text === null) return refused("bundle.malformed");
  if (typeof input === "string" && input !== text) return refused("bundle.not_canonical");
  const bundle = parsed.value as unknown as EvidenceBundle;
  const relayKey = keyOfDid(bundle.issuer);
  if (bundle.spec !== BUNDLE_SPEC) return refused("bundle.spec");
  if (bundle.suite !== SUITE) return refused("bundle.suite");
  return relayKey === null ? refused("bundle.malformed") : { ok: true, bundle, relayKey };
}

function canonicalText(value: unknown): string | null {
  try {
    return canonicalize(value);
  } catch (error) {
    if (error instanceof CanonicalJsonError) return null;
    throw error;
  }
}

function refused(code: BundleRefusal): Read {
  return { ok: false, code };
}
