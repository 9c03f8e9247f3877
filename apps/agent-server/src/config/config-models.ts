import * as v from "valibot";
import { strictSettings } from "./strict-settings.ts";
import type { ModelEndpoint } from "../model/model-caller.ts";

type TextSchema = v.GenericSchema<string>;

/** Builds the schema of an OpenAI-compatible endpoint; `name` is the prefix of its variables. */
export function modelSettings(name: string, schemas: { httpUrl: TextSchema; text: TextSchema }) {
  const { httpUrl, text } = schemas;
  return v.optional(
    v.pipe(
      strictSettings({ baseUrl: v.optional(httpUrl), model: v.optional(text) }),
      v.check(
        ({ baseUrl, model }) => (baseUrl === undefined) === (model === undefined),
        `must have both ${name}_BASE_URL (baseUrl) and ${name}_MODEL (model)`,
      ),
    ),
  );
}

/** Returns the endpoint if one is configured. */
export function buildModelEndpoint(
  settings: { readonly baseUrl?: string | undefined; readonly model?: string | undefined } = {},
  apiKey?: string,
): ModelEndpoint | undefined {
  const { baseUrl, model } = settings;
  if (baseUrl === undefined || model === undefined) return undefined;
  return { baseUrl: baseUrl.replace(/\/+$/, ""), model, apiKey };
}
