import { badFields } from "../../errors.ts";
import { issuerProblem } from "../issuer.ts";
import type { IdentityProviderRow } from "./identity-provider-store.ts";

type Kind = IdentityProviderRow["kind"];
type Given = Record<string, unknown>;

/** The fields that only providers of one kind have, and whether such a provider needs them. */
const FIELDS: Record<Kind, Record<string, boolean>> = {
	OIDC: { client_id: true, client_secret: true, trusts_addresses: false },
	SAML: { sign_in_url: true, sign_out_url: false, certificates: true },
};

/** Throws bad_request if a field of the kind is missing or wrong, or one of another kind is there. */
export function requireFieldsOf(kind: Kind, input: Given): void {
	rejectForeignFields(kind, input);
	const issues = Object.entries(FIELDS[kind])
		.filter(([field, isNeeded]) => isNeeded && input[field] === undefined)
		.map(([field]) => ({
			field,
			message: `is required for a provider of the kind ${kind}`,
		}));
	const problem = kind === "OIDC" && issuerProblem(String(input.issuer));
	if (problem) issues.push({ field: "issuer", message: problem });
	if (issues.length > 0) throw badFields(issues);
}

/** Throws bad_request if the input has a field that providers of this kind do not have. */
export function rejectForeignFields(kind: Kind, input: Given): void {
	const other = kind === "OIDC" ? "SAML" : "OIDC";
	const issues = Object.keys(FIELDS[other])
		.filter((field) => input[field] !== undefined)
		.map((field) => ({
			field,
			message: `must be left out, because only a provider of the kind ${other} has it`,
		}));
	if (issues.length > 0) throw badFields(issues);
}
