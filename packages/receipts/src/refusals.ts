/** The reasons for which a value is not a receipt. */
export type StructureRefusal = "receipt.malformed" | "receipt.too_many_nested";

/** Every reason for which a receipt is not valid. */
export type ReceiptRefusal =
  | StructureRefusal
  | "receipt.span"
  | "receipt.task_mismatch"
  | "receipt.suite"
  | "receipt.key_missing"
  | "receipt.signature_invalid"
  | "receipt.out_of_scope";

/** The warnings about a receipt that stays valid. */
export type ReceiptWarning =
  | "receipt.prompt_hash_mismatch"
  | "receipt.result_hash_mismatch"
  | "receipt.completed_in_future"
  | "receipt.too_many_hops"
  | "receipt.nested_outside";
