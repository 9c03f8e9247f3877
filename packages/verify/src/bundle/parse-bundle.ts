import { canonicalize, parseJsonText, SUITE, unlessMalformed } from "@agent/crypto";
import * as v from "valibot";
import { parseDidKey } from "../expected-key.ts";
import type { BundleRefusal } from "../refusals.ts";
import { BUNDLE_LEVELS, BUNDLE_SPEC, BundleSchema, type EvidenceBundle } from "./schema.ts";

type ParseBundleResult =
  | { readonly ok: true; readonly bundle: EvidenceBundle; readonly relayKey: string }
  | { readonly ok: false; readonly code: BundleRefusal };

/** Parses a bundle, given as a value or as its text, which must be its canonical JSON. */
export function parseBundle(input: unknown): ParseBundleResult {
  const parsed = typeof input === "string" ? parseJsonText(input) : { value: input };
  if (parsed === null || !v.is(BundleSchema, parsed.value)) return buildRefusal("bundle.malformed");
  const text = unlessMalformed(() => canonicalize(parsed.value, BUNDLE_LEVELS));
  if (text === undefined) return buildRefusal("bundle.malformed");
  if (typeof input === "string" && input !== text) return buildRefusal("bundle.not_canonical");
  const bundle = parsed.value as unknown as EvidenceBundle;
  const relayKey = parseDidKey(bundle.issuer);
  if (bundle.spec !== BUNDLE_SPEC) return buildRefusal("bundle.spec");
  if (bundle.suite !== SUITE) return buildRefusal("bundle.suite");
  return relayKey === null ? buildRefusal("bundle.malformed") : { ok: true, bundle, relayKey };
}

function buildRefusal(code: BundleRefusal): ParseBundleResult {
  return { ok: false, code };
}
