import { Stack, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useOrganization } from "../../../organization.ts";
import { TextLink } from "../../../parts/links.tsx";
import { forgotPasswordQuery, operationQuery } from "../../../queries.ts";
import type { Version } from "./statuses.ts";

/**
 * Says how many of these people can sign a version in which way, and what to do for the others.
 * Without people, it is about those who are asked and have not signed.
 */
export function HowTheySign({
	version,
	people,
}: {
	version: Version;
	people?: readonly string[];
}) {
	const { organizationId, mayAdmin } = useOrganization();
	const mail = useQuery(forgotPasswordQuery).data;
	const { data: counts } = useQuery({
		...operationQuery("countSigners", {
			document_version_id: version.id,
			...(people && { person_ids: [...people] }),
		}),
		placeholderData: keepPreviousData,
	});
	if (!counts || !mail) return null;
	const { account, link, secret, left } = counts;
	const isAsked = people === undefined;
	const invite = mayAdmin ? (
		<TextLink to="/o/$org/settings/members" params={{ org: organizationId }}>
			invite them as viewers
		</TextLink>
	) : (
		"ask an administrator to invite them as viewers"
	);
	return (
		<Stack gap={4} role="status" aria-label="How they can sign">
			{account > 0 && (
				<Text size="sm">
					{have(account, "an account", "find")} the version on{" "}
					{account === 1 ? "the" : "their"} home page.
				</Text>
			)}
			{link > 0 && (
				<Text size="sm">
					{mail.sends_mail ? (
						<>
							{have(link, "no account", isAsked ? "sign" : "get")}{" "}
							{isAsked ? "by a link" : "a link by mail"}. If a mail does not
							arrive, copy a link in the list.
						</>
					) : (
						<>
							<b>
								{have(link, "no account", "get")} no mail, because this service
								has no mail server.
							</b>{" "}
							{isAsked ? "Copy" : "After asking, copy"} a link for each in the
							list and pass it on, or {invite}. The operator can also set up
							mail.
						</>
					)}
				</Text>
			)}
			{secret > 0 && (
				<Text size="sm">
					<b>
						{have(secret, "no account", "cannot")} sign, because no link shows a
						secret document.
					</b>{" "}
					To let them sign, {invite}.
				</Text>
			)}
			{left > 0 && (
				<Text size="sm">
					<b>{have(left, "no account", "cannot")} sign,</b> because the contract
					has ended.
				</Text>
			)}
		</Stack>
	);
}

/** Begins a sentence such as "1 person has no account and gets". */
function have(count: number, what: string, verb: string): string {
	if (count !== 1) {
		return `${count.toLocaleString()} people have ${what} and ${verb}`;
	}
	return `1 person has ${what} and ${verb === "cannot" ? verb : `${verb}s`}`;
}
