import { useParams } from "@tanstack/react-router";
import type { KindDescription } from "../../kind-description.ts";
import { describeKind } from "../../kinds.ts";
import { findRegisterKind } from "../../register-kinds.ts";

/** Returns the kind of record in the address. The route has made sure that there is one. */
export function useKind(): KindDescription {
	const { kind } = useParams({ strict: false });
	const known = findRegisterKind(kind ?? "");
	if (!known) throw new Error("this page does not belong to a kind of record");
	return describeKind(known.kind);
}

/** Returns the words with a capital first letter, for the beginning of a sentence. */
export function capitalized(words: string): string {
	return words.charAt(0).toUpperCase() + words.slice(1);
}
