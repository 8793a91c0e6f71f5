import { Group, MultiSelect } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import { useOrganization } from "../../organization.ts";
import { meQuery, operationQuery } from "../../queries.ts";
import type { CommentDraft } from "./comment-draft.ts";
import { CommentText } from "./comment-text.tsx";

/** Checks the text of a comment. */
export const isWritten = (text: string) =>
	text.trim() ? null : "Enter a comment.";

/** Fields for the text of a comment and the members whom it mentions, with the form's buttons. */
export function CommentFields({
	form,
	mentioned: named = [],
	children,
}: {
	form: UseFormReturnType<CommentDraft>;
	/** The members whom the comment mentions already. */
	mentioned?: readonly { user_id: string; name: string }[];
	children: ReactNode;
}) {
	const { organizationId } = useOrganization();
	const { data: me } = useQuery(meQuery);
	const members = useQuery(
		operationQuery("listMembers", {
			organization_id: organizationId,
			size: MAX_PAGE_SIZE,
			order_by: { field: "name" },
		}),
	);
	const others = (members.data?.members ?? []).filter(
		({ user_id }) => user_id !== me?.id,
	);
	const options = others.map(({ user_id, name, email }) => ({
		value: user_id,
		label: `${name} (${email})`,
	}));
	// The list offers only the first members if there are many.
	const more = named.filter(
		({ user_id }) => !others.some((other) => other.user_id === user_id),
	);
	const mentioned = form.values.mentioned_user_ids;
	return (
		<>
			<CommentText
				members={others.filter(({ user_id }) => !mentioned.includes(user_id))}
				onMention={(userId) =>
					form.setFieldValue("mentioned_user_ids", [...mentioned, userId])
				}
				value={form.values.text}
				onChange={(text) => form.setFieldValue("text", text)}
				error={form.errors.text}
			/>
			<Group align="flex-end" justify="space-between">
				{others.length > 0 && (
					<MultiSelect
						label="Mention"
						placeholder="Members who should see it"
						searchable
						flex="1 1 240px"
						maw={480}
						maxValues={20}
						data={[
							...options,
							...more.map(({ user_id, name }) => ({
								value: user_id,
								label: name,
							})),
						]}
						{...form.getInputProps("mentioned_user_ids")}
					/>
				)}
				{children}
			</Group>
		</>
	);
}
