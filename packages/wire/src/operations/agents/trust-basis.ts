import * as v from "valibot";
import { extensibleEnum } from "../../engine/extensible-enum.ts";

/**
 * The basis of a level that is shown to strangers: `unpriced` where faking one costs nothing. Absent
 * where levels are backed by the fees that payers left.
 */
export const TrustBasis = v.optional(extensibleEnum(["unpriced"]));
