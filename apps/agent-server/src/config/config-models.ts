import * as v from "valibot";
import { strictSettings } from "./strict-settings.ts";
import type { ModelEndpoint } from "../model/model-caller.ts";

type TextSchema = v.GenericSchema<string>;

/** An OpenAI-compatible endpoint in a configuration; `name` is how its variables begin. */
export function modelSettings(name: string, schemas: { httpUrl: TextSchema; text: TextSchema }) {
  const { httpUrl, text } = schemas;
  return v.optional(
    v.pipe(
      strictSettings({ baseUrl: v.optional(httpUrl), model: v.optional(text) }),
      v.check(
        ({ baseUrl, model }) => (baseUrl === undefined) === (model === undefined),
        `needs both ${name}_BASE_URL (baseUrl) and ${name}_MODEL (model)`,
      ),
    ),
  );
}

/** The endpoint, where one is configured. */
export function buildModelEndpoint(
  settings: { readonly baseUrl?: string | undefined; readonly model?: string | undefined } = {},
  apiKey?: string,
): ModelEndpoint | undefined {
  const { baseUrl, model } = settings;
  if (baseUrl === undefined || model === undefined) return undefined;
  return { baseUrl: baseUrl.replace(/\/+$/, ""), model, apiKey };
}
