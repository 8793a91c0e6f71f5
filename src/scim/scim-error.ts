/** Error codes of RFC 7644 section 3.12 that say what is wrong with a request. */
export type ScimType =
	| "invalidFilter"
	| "tooMany"
	| "uniqueness"
	| "mutability"
	| "invalidSyntax"
	| "invalidPath"
	| "noTarget"
	| "invalidValue";

/** An answer that is an error of the SCIM protocol. Its message is shown to the client. */
export class ScimError extends Error {
	readonly status: number;
	readonly scimType: ScimType | undefined;

	constructor(status: number, message: string, scimType?: ScimType) {
		super(message);
		this.status = status;
		this.scimType = scimType;
	}
}

export function invalidValue(message: string): ScimError {
	return new ScimError(400, message, "invalidValue");
}

const ERROR_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error";

/** Returns the body of an error as RFC 7644 section 3.12 describes it. */
export function errorBody(
	status: number,
	detail: string,
	scimType?: ScimType,
): object {
	return {
		schemas: [ERROR_SCHEMA],
		status: String(status),
		...(scimType && { scimType }),
		detail,
	};
}
