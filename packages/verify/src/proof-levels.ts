/** A proof level: its name, the facts that it proves and those that it does not prove. */
export interface ProofLevel {
  readonly name: ProofLevelName;
  readonly title: string;
  readonly proves: string;
  readonly doesNotProve: string;
}

/** The name of a proof level. */
export type ProofLevelName =
  | "well_formed"
  | "intact"
  | "key_bound"
  | "key_valid"
  | "task_bound"
  | "hashes_match"
  | "nested"
  | "hop_bound"
  | "attested"
  | "settled"
  | "logged"
  | "witnessed";

/** The proof levels in order; an artifact has the levels for which it contains evidence. */
export const PROOF_LEVELS: readonly ProofLevel[] = [
  {
    name: "well_formed",
    title: "well-formed",
    proves: "It has every member of its kind, in the right form, with possible times.",
    doesNotProve: "that it is signed.",
  },
  {
    name: "intact",
    title: "intact",
    proves: "The holder of the signing key signed exactly this; of a ledger, exactly its timeline.",
    doesNotProve: "whose key that is.",
  },
  {
    name: "key_bound",
    title: "key bound to the agent",
    proves:
      "The signing key is the one that you named or, in a bundle, one that the relay has registered for the agent.",
    doesNotProve: "who runs the agent, or that the relay's registry is right.",
  },
  {
    name: "key_valid",
    title: "key valid then",
    proves: "The key or the credential was in force at the time that counts.",
    doesNotProve: "that the key was not stolen; only a relay knows of revocations.",
  },
  {
    name: "task_bound",
    title: "task bound",
    proves: "It was signed for this task, by its executor, with tools within the delegated scope.",
    doesNotProve: "that the task was worth doing.",
  },
  {
    name: "hashes_match",
    title: "hashes match",
    proves:
      "Prompt, result or timeline are the texts whose hashes were signed; steps agree with it, and a choice with its record.",
    doesNotProve: "that the result is right.",
  },
  {
    name: "nested",
    title: "nested",
    proves: "Everything inside it, down to ten hops, was verified in the same way and is valid.",
    doesNotProve: "that nothing was left out of it.",
  },
  {
    name: "hop_bound",
    title: "hop bound",
    proves: "The relay states each nested task as one of the agent one hop up, done by its signer.",
    doesNotProve: "anything about tasks of other relays, or that the relay states the truth.",
  },
  {
    name: "attested",
    title: "attested",
    proves: "A relay signed which receipt it received for the task, and when.",
    doesNotProve: "that the relay's clock was right; another relay may state something else.",
  },
  {
    name: "settled",
    title: "settled",
    proves: "A relay signed what was paid for this receipt, and the postings add up to it.",
    doesNotProve: "that money ever left the relay's books.",
  },
  {
    name: "logged",
    title: "logged",
    proves:
      "The relay's append-only log holds receipt, settlements and credential, at these places.",
    doesNotProve: "that others see the same log.",
  },
  {
    name: "witnessed",
    title: "witnessed",
    proves: "As many witnesses as you asked for saw this log only grow up to here.",
    doesNotProve: "that they are independent.",
  },
];
