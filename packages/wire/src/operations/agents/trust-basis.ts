import * as v from "valibot";
import { extensibleEnum } from "../../engine/extensible-enum.ts";

/**
 * The basis of a trust level shown to strangers: `unpriced` if faking one costs nothing. Absent if levels
 * are backed by the fees that payers paid.
 */
export const TrustBasis = v.optional(extensibleEnum(["unpriced"]));
