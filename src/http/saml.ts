import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";
import { STRANGERS_BODIES } from "../load/body-budget.ts";
import { networkOf } from "../load/sign-in-queue.ts";
import type { From } from "../sign-in/exchange.ts";
import type { ProviderSignIn } from "../sign-in/oidc/sign-in-with-provider.ts";
import { serviceMetadata } from "../sign-in/saml/messages.ts";
import { SAML_PATH, serviceProviderOf } from "../sign-in/saml/saml-source.ts";
import { MAX_FORM_BODY, nothingHere } from "./admission.ts";
import { readBody, unreadBodyError } from "./body.ts";

export interface SamlParts {
	baseUrl: string;
	providerSignIn: ProviderSignIn;
	fromOf: (request: FastifyRequest) => From;
}

/**
 * Adds the routes for SAML.
 *
 *     GET  /api/sign-in-with-provider/saml/ID/metadata   what a provider must know about this service
 *     POST /api/sign-in-with-provider/saml/ID            a page of the provider sends its response here
 */
export function addSaml(
	app: FastifyInstance,
	{ baseUrl, providerSignIn, fromOf }: SamlParts,
): void {
	app.get<{ Params: { id: string } }>(
		`${SAML_PATH}/:id/metadata`,
		{ config: { admits: "visitor" } },
		async ({ params: { id } }, reply) => {
			if (!/^[\w-]{1,100}$/.test(id)) throw nothingHere();
			// The same for every id, so it does not say which providers exist.
			return reply
				.type("application/samlmetadata+xml")
				.send(serviceMetadata(serviceProviderOf(baseUrl, id)));
		},
	);

	app.register((scope, _options, done) => {
		scope.addContentTypeParser(
			"application/x-www-form-urlencoded",
			(request, _payload, parsed) => {
				readForm(request, fromOf(request)).then(
					(form) => form && parsed(null, form),
					(error) => parsed(error),
				);
			},
		);
		scope.post<{ Params: { id: string } }>(
			`${SAML_PATH}/:id`,
			{
				bodyLimit: MAX_FORM_BODY,
				config: { admits: "form of another website" },
			},
			async (request, reply) => {
				const { body, params } = request;
				const responses =
					body instanceof URLSearchParams ? body.getAll("SAMLResponse") : [];
				const [response] = responses;
				if (!response || responses.length > 1) {
					throw new AppError(
						"bad_request",
						"the form must have exactly one field SAMLResponse",
					);
				}
				const { location, cookies } = await providerSignIn.receive(
					params.id,
					response,
					fromOf(request),
				);
				for (const cookie of cookies) reply.header("set-cookie", cookie);
				return reply.redirect(location, 303);
			},
		);
		done();
	});
}

/** Reads a form within the memory that strangers may take. Returns undefined if the client hung up. */
async function readForm(
	request: FastifyRequest,
	{ address }: From,
): Promise<URLSearchParams | undefined> {
	const room = STRANGERS_BODIES.of(networkOf(address ?? ""));
	const bytes = await readBody(request.raw, MAX_FORM_BODY, room);
	if (bytes === "aborted") return undefined;
	if (typeof bytes === "string") throw unreadBodyError(bytes, MAX_FORM_BODY);
	return new URLSearchParams(bytes.toString("utf8"));
}
