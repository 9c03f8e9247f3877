import * as v from "valibot";

/** A word of an answer: one that this version knows, or one that a later version added. */
export type Extensible<Word extends string> = Word | (string & {});

/**
 * An enumeration as answers hold it. The side that answers may only use `words`; the side that reads
 * accepts any text, so that a word of a later version does not make a whole list unreadable. Requests
 * use `v.picklist`, which refuses unknown words.
 */
export function extensibleEnum<const Words extends readonly string[]>(
  words: Words,
): v.GenericSchema<Words[number], Extensible<Words[number]>> {
  // JSON Schema takes the metadata over as it is.
  const schema: v.GenericSchema<string> = v.pipe(
    v.string(),
    v.metadata({ enum: words, "x-extensible": true }),
  );
  // Only the types differ between the two sides: at run time both are text.
  return schema as v.GenericSchema<Words[number], Extensible<Words[number]>>;
}

/** The words of an enumeration made by `extensibleEnum`, or null for any other schema. */
export function getEnumWords(schema: v.GenericSchema): readonly string[] | null {
  const { enum: words, "x-extensible": isExtensible } = v.getMetadata(schema);
  return isExtensible === true && Array.isArray(words) ? words.map(String) : null;
}
