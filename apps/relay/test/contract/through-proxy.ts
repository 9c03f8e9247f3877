import { describeImplied, describeRefusals, describeSuccesses } from "./describe-contract.ts";
import { proxied } from "./proxied.ts";

const carry = proxied();
describeSuccesses(carry);
describeRefusals(carry);
describeImplied(carry);
