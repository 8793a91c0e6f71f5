import { z } from "zod";
import { AppError } from "../errors.ts";
import type { OutgoingRule } from "../outgoing/outgoing-address.ts";
import { requestOutgoing } from "../outgoing/request-outgoing.ts";
import { isRedirectUri } from "./redirect-uri.ts";

const MAX_BYTES = 16 * 1024;
const MAX_MS = 5_000;

/** What a client says about itself, in its document or when it registers. */
export const clientMetadata = z.object({
	client_name: z.string().trim().min(1).max(200).optional(),
	redirect_uris: z
		.array(
			z.string().refine(isRedirectUri, {
				error:
					"must be an https address, an http address of this machine, or an address of the client's own scheme, without a fragment",
			}),
		)
		.min(1)
		.max(20),
	token_endpoint_auth_method: z.string().max(100).optional(),
});

const document = clientMetadata.extend({ client_id: z.string() });

export interface ClientDocument {
	name: string;
	redirectUris: string[];
}

/**
 * Returns true if the client's id is the address of a document about it (Client ID Metadata
 * Documents): https, with a path, without a fragment, a password or dots in the path.
 */
export function isDocumentAddress(clientId: string): boolean {
	const url = clientId.length <= 2000 ? URL.parse(clientId) : null;
	return (
		url?.protocol === "https:" &&
		url.href === clientId &&
		url.pathname !== "/" &&
		!url.hash &&
		!url.username &&
		!url.password
	);
}

/**
 * Fetches the document of a client. Only public addresses are asked, and those that the operator
 * allows for webhooks. Follows no redirect, waits at most 5 s and reads at most 16 KiB.
 *
 * Throws bad_request if the document cannot be had or does not describe this client.
 */
export async function fetchClientDocument(
	clientId: string,
	rule: OutgoingRule,
): Promise<ClientDocument> {
	const text = await fetchText(new URL(clientId), rule).catch((error) => {
		throw rejected(`it cannot be fetched (${(error as Error).message})`);
	});
	let json: unknown;
	try {
		json = JSON.parse(text);
	} catch {
		throw rejected("it is not JSON");
	}
	const found = document.safeParse(json);
	if (!found.success) {
		const [issue] = found.error.issues;
		throw rejected(`its field ${issue?.path.join(".")}: ${issue?.message}`);
	}
	const { client_id, client_name, redirect_uris } = found.data;
	if (client_id !== clientId) {
		throw rejected("its client_id is not the address from which it came");
	}
	return {
		name: client_name ?? new URL(clientId).hostname,
		redirectUris: redirect_uris,
	};
}

function rejected(why: string): AppError {
	return new AppError(
		"bad_request",
		`the document that client_id names cannot be used: ${why}`,
	);
}

/** Throws an error that says why there is no document. */
async function fetchText(url: URL, rule: OutgoingRule): Promise<string> {
	const { status, body, isCut } = await requestOutgoing(url, rule, {
		headers: { accept: "application/json" },
		maxMs: MAX_MS,
		maxBytes: MAX_BYTES,
	});
	if (status !== 200) throw new Error(`the answer has status ${status}`);
	if (isCut) throw new Error(`it has more than ${MAX_BYTES} bytes`);
	return body.toString();
}
