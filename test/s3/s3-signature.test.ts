import { expect, test } from "vitest";
import { EMPTY_SHA256, signS3Request } from "../../src/s3/s3-signature.ts";

test("a request has the signature that Amazon's documentation computes", () => {
	// "Example: Get Bucket (List Objects)" in the documentation of Signature Version 4.
	const headers = signS3Request(
		{
			method: "GET",
			url: new URL(
				"https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J",
			),
			bodySha256: EMPTY_SHA256,
			at: new Date("2013-05-24T00:00:00Z"),
		},
		"us-east-1",
		{
			id: "AKIAIOSFODNN7EXAMPLE",
			secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		},
	);
	expect(headers.authorization).toContain(
		"Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
	);
});
