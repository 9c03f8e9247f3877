import { bytesToHex, type Check, didKeyToPublicKey, unlessMalformed } from "@agent/crypto";
import * as v from "valibot";

/** The did:key of the relay that signed a record. */
export const issuer = v.pipe(
  v.string("must be a string"),
  v.check(
    (did) => unlessMalformed(() => didKeyToPublicKey(did)) !== undefined,
    "must be the did:key of an Ed25519 key",
  ),
);

/** Returns the key of a record's issuer as 64 hex digits. */
export function getIssuerKey(record: { readonly issuer: string }): string {
  return bytesToHex(didKeyToPublicKey(record.issuer));
}

/** The keys of the relay that must have issued a record, as 64 hex digits. */
export interface IssuerKeys {
  readonly publicKey?: string | undefined;
  /** A relay's verified chain, oldest first. */
  readonly relayKeys?: readonly string[] | undefined;
}

/**
 * Returns the issuer's key and the later keys of its relay, newest first, because a relay signs a record
 * when it is read; empty if the issuer is another relay.
 */
export function listSigningKeys(
  record: { readonly issuer: string },
  { publicKey, relayKeys = publicKey === undefined ? undefined : [publicKey] }: IssuerKeys,
): readonly string[] {
  const issuerKey = getIssuerKey(record);
  if (relayKeys === undefined) return [issuerKey];
  const position = relayKeys.indexOf(issuerKey);
  return position === -1 ? [] : relayKeys.slice(position).toReversed();
}

/** Builds the check that the issuer of one kind of record is the relay that must have issued it. */
export function buildIssuerCheck<Kind extends string>(
  kind: Kind,
): Check<{ readonly issuer: string }, IssuerKeys, `${Kind}.wrong_issuer`> {
  return {
    name: "issuer",
    refusal: `${kind}.wrong_issuer`,
    test: (record, options) => listSigningKeys(record, options).length > 0,
  };
}
