import * as v from "valibot";
import { dateTime, text } from "./fields.ts";
import { CREDENTIAL_LIMITS } from "./limits.ts";

/** The first entry of every `@context`. */
export const CREDENTIALS_CONTEXT = "https://www.w3.org/ns/credentials/v2";

/**
 * An `eddsa-jcs-2022` proof (specification, Credentials); its times are ISO 8601 date-times with a time zone,
 * by the signer's clock.
 */
export interface DataIntegrityProof {
  type: string;
  cryptosuite: string;
  /** The time at which the proof was made. */
  created: string;
  /** The end of the proof's validity, if it has one. */
  expires?: string | undefined;
  /** The signer's did:key, `#`, and the part after `did:key:` again. */
  verificationMethod: string;
  proofPurpose: string;
  /** The verifier's challenge, so that a presentation cannot be replayed. */
  challenge?: string | undefined;
  /** The audience that a presentation is made for. */
  domain?: string | undefined;
  /** The document's own `@context`, which a proof may repeat. */
  "@context"?: string[] | undefined;
  /** `z` and the signature in base58btc. */
  proofValue: string;
}

/**
 * A W3C Verifiable Credential 2.0; members without a name here are signed as well. Its times are ISO 8601
 * date-times with a time zone, by the issuer's clock.
 */
export interface VerifiableCredential<Subject extends { id: string } = { id: string }> {
  "@context": string[];
  id?: string | undefined;
  type: string[];
  /** The signer's did:key. */
  issuer: string;
  validFrom: string;
  /** Absent if the validity has no end. */
  validUntil?: string | undefined;
  credentialSubject: Subject;
  proof: DataIntegrityProof;
}

/** Credentials presented by a holder, under the holder's own proof. */
export interface VerifiablePresentation {
  "@context": string[];
  type: string[];
  /** The signer's did:key. */
  holder: string;
  verifiableCredential: VerifiableCredential[];
  proof: DataIntegrityProof;
}

const textList = v.array(text, "must be an array");
const context = v.pipe(
  textList,
  v.check(([first]) => first === CREDENTIALS_CONTEXT, "must begin with the credentials context"),
);
const typesIncluding = (type: string) =>
  v.pipe(
    textList,
    v.check((types) => types.includes(type), `must include ${type}`),
  );

const ProofSchema = v.looseObject(
  {
    type: text,
    cryptosuite: text,
    created: dateTime,
    expires: v.optional(dateTime),
    verificationMethod: text,
    proofPurpose: text,
    challenge: v.optional(text),
    domain: v.optional(text),
    // A chained proof refers to another proof, and a document has only this one.
    previousProof: v.optional(v.never("is not supported")),
    "@context": v.optional(textList),
    proofValue: text,
  },
  "must be an object with every member of a proof",
);

/**
 * The schema of a credential, for contracts; `verifyCredential` checks its meaning and its proof.
 */
export const VerifiableCredentialSchema: v.GenericSchema<VerifiableCredential> = v.looseObject(
  {
    "@context": context,
    id: v.optional(text),
    type: typesIncluding("VerifiableCredential"),
    issuer: text,
    validFrom: dateTime,
    validUntil: v.optional(dateTime),
    credentialSubject: v.looseObject({ id: text }, "must be an object with an id"),
    proof: ProofSchema,
  },
  "is missing",
);

/** The schema of a presentation and of the credentials in it, for contracts. */
export const VerifiablePresentationSchema: v.GenericSchema<VerifiablePresentation> = v.looseObject(
  {
    "@context": context,
    type: typesIncluding("VerifiablePresentation"),
    holder: text,
    verifiableCredential: v.pipe(
      v.array(VerifiableCredentialSchema, "must be an array"),
      v.maxLength(
        CREDENTIAL_LIMITS.maxCredentials,
        `must hold at most ${CREDENTIAL_LIMITS.maxCredentials} credentials`,
      ),
    ),
    proof: ProofSchema,
  },
  "is missing",
);
