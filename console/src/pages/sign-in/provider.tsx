import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Problem } from "../../../../src/sign-in/oidc/outcome.ts";
import {
	REFUSALS,
	type SamlRefusal,
} from "../../../../src/sign-in/saml/refusals.ts";

/** Leads to the identity provider, and from there to the page `to` of the console. */
export function ProviderButton({
	provider,
	to = "/",
}: {
	/** The provider's name. */
	provider: string;
	to?: string | undefined;
}) {
	const query = to === "/" ? "" : `?${new URLSearchParams({ to })}`;
	return (
		<Button component="a" href={`/api/sign-in-with-provider${query}`}>
			Continue with {provider}
		</Button>
	);
}

/**
 * Asks for the address at work, and leads to the identity provider of the company that has the
 * address's domain.
 */
export function CompanySignIn({
	to,
	email,
}: {
	to?: string | undefined;
	/** Returns the address that the visitor has already entered on the page. */
	email: () => string;
}) {
	const [address, setAddress] = useState<string | null>(null);
	const [isMissing, setIsMissing] = useState(false);
	if (address === null) {
		return (
			<Button variant="default" onClick={() => setAddress(email())}>
				Sign in with your company
			</Button>
		);
	}
	const goOn = () => {
		if (!address.includes("@")) return setIsMissing(true);
		const query = new URLSearchParams({
			address: address.trim(),
			...(to !== undefined && { to }),
		});
		location.assign(`/api/sign-in-with-provider?${query}`);
	};
	return (
		<>
			<TextInput
				label="Your address at work"
				type="email"
				autoFocus
				error={isMissing && "Enter your e-mail address at work."}
				value={address}
				onChange={(event) => {
					setAddress(event.currentTarget.value);
					setIsMissing(false);
				}}
				onKeyDown={(event) => {
					if (event.key !== "Enter") return;
					event.preventDefault();
					goOn();
				}}
			/>
			<Button onClick={goOn}>Continue</Button>
		</>
	);
}

const PROBLEMS: Record<Problem, string> = {
	NO_ADDRESS:
		"Your identity provider does not name your e-mail address. Ask the people who run it to send the address.",
	UNVERIFIED_ADDRESS:
		"Your identity provider does not say that your e-mail address is verified. Ask the people who run it.",
	OTHER_DOMAIN:
		"Your e-mail address is not one of those that may sign in here. Sign in at your identity provider with your company's address.",
	NOT_INVITED:
		"You have no account here, and nobody has invited you. Ask an administrator for an invitation.",
	ORGANIZATION_CLOSED:
		"The organization is closed for now, and nobody can join it. Ask an administrator of the organization, or try again when it is open.",
	OTHER_PERSON:
		"The account with your e-mail address belongs to somebody else at your identity provider. Ask the people who run this service.",
	DOMAIN_NOT_VERIFIED:
		"An account with your e-mail address exists already, and this provider may not vouch for your address's domain. Sign in as before. An administrator of the organization can verify the domain, so that the provider may vouch for it.",
	GROUPS_UNKNOWN:
		"Your identity provider could not say which groups you are in. Your groups decide your role, so no account was made. Try again in a few minutes. If it happens again, tell the people who run this service; their log says why.",
	TRY_AGAIN: "Two sign-ins came at the same moment. Try again.",
	NO_PROVIDER:
		"There is no identity provider for this, or it is switched off. Sign in another way, or ask an administrator of your organization.",
	CANCELLED: "You cancelled, or your identity provider did not let you in.",
	NO_ATTEMPT:
		"It took longer than ten minutes, or this browser did not begin it. Try again, and allow cookies for this site.",
	TOO_MANY_ATTEMPTS:
		"There were too many attempts from your network. Try again in 15 minutes.",
	PROVIDER_FAILED:
		"Your identity provider did not answer as it should. Try again. If it happens again, tell the people who run this service; their log says why.",
	SERVICE_FAILED:
		"Assay could not finish the sign-in. Try again in a moment. If it happens again, tell the people who run this service.",
	OTHER_ACCOUNT:
		"You confirmed with another account than the one with which you are signed in here. Use the same one.",
	NOT_ASKED_AGAIN:
		"Your identity provider did not ask for your password again. Sign out there, and try again.",
	STILL_SIGNED_IN_THERE:
		"You are signed out of Assay, but you are still signed in at your identity provider. Assay found no page for signing out there. Sign out there yourself.",
	MAYBE_SIGNED_IN_THERE:
		"You are signed out of Assay. You may still be signed in at your identity provider, because Assay could not reach it. Sign out there yourself.",
};

/** Returns the words for a problem that is named in the page's address. */
export function problemInWords(problem: string, why = ""): string {
	if (problem === "PROVIDER_FAILED" && Object.hasOwn(REFUSALS, why)) {
		return `Assay rejected the answer of your identity provider: ${REFUSALS[why as SamlRefusal]}.`;
	}
	return Object.hasOwn(PROBLEMS, problem)
		? PROBLEMS[problem as Problem]
		: "Something went wrong. Try again.";
}
