import {
	RefusedAnswer,
	type SamlRefusal,
} from "../../src/sign-in/saml/refusals.ts";
import {
	type Expected,
	verifyResponse,
} from "../../src/sign-in/saml/verify-response.ts";
import {
	type Asked,
	type ResponseChanges,
	SamlProvider,
} from "../support/saml-provider.ts";

export const provider = new SamlProvider();
export const answerUrl =
	"https://assay.example.com/api/sign-in-with-provider/saml/x";
const asked: Asked = {
	id: "_request",
	issuer: `${answerUrl}/metadata`,
	answerUrl,
	forcesAuthentication: false,
};
const ada = {
	nameId: "ada-1815",
	attributes: { email: ["ada@example.com"], groups: ["Staff", "Security"] },
};

/** Verifies a response as the service would, at this moment. */
export const verify = (xml: string, changes: Partial<Expected> = {}) =>
	verifyResponse(xml, {
		issuer: provider.entityId,
		audience: asked.issuer,
		recipient: answerUrl,
		certificates: [provider.key.certificate],
		now: new Date(),
		...changes,
	});

/** Returns the code with which a response is refused. */
export function refusalOf(
	xml: string,
	changes: Partial<Expected> = {},
): SamlRefusal | undefined {
	try {
		verify(xml, changes);
		return undefined;
	} catch (error) {
		if (error instanceof RefusedAnswer) return error.code;
		throw error;
	}
}

export const respond = (
	changes: ResponseChanges = {},
	person: typeof ada = ada,
) => provider.respond(asked, person, changes);
