import * as v from "valibot";
import type { Variable } from "./config-values.ts";
import { federationVariables } from "./variables/federation-variables.ts";
import { feeVariables } from "./variables/fee-variables.ts";
import { logVariables } from "./variables/log-variables.ts";
import { paymentVariables } from "./variables/payment-variables.ts";
import { serverVariables } from "./variables/server-variables.ts";
import { storageVariables } from "./variables/storage-variables.ts";
import { taskVariables } from "./variables/task-variables.ts";
import { witnessVariables } from "./variables/witness-variables.ts";

/** Every variable of the relay, in the order of the help text. */
export const variables = {
  ...serverVariables,
  ...storageVariables,
  ...logVariables,
  ...taskVariables,
  ...feeVariables,
  ...paymentVariables,
  ...federationVariables,
  ...witnessVariables,
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof variables;

type Entries = { readonly [Name in VariableName]: (typeof variables)[Name]["schema"] };

/** The schema of the whole environment. */
export const EnvironmentSchema = v.object(
  Object.fromEntries(
    Object.entries(variables).map(([name, { schema }]) => [name, schema]),
  ) as Entries,
);

export type VariableValues = v.InferOutput<typeof EnvironmentSchema>;
