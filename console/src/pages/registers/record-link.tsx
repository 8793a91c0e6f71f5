import type { ReactNode } from "react";
import { TextLink } from "../../parts/links.tsx";

/** A link to a record of any kind, which may be a device. */
export function RecordLink({
	organizationId,
	kind,
	id,
	children,
}: {
	organizationId: string;
	kind: string;
	id: string;
	children: ReactNode;
}) {
	const common = { lineClamp: 2, style: { overflowWrap: "anywhere" } } as const;
	if (kind === "device") {
		return (
			<TextLink
				{...common}
				to="/o/$org/devices/$id"
				params={{ org: organizationId, id }}
			>
				{children}
			</TextLink>
		);
	}
	return (
		<TextLink
			{...common}
			to="/o/$org/r/$kind/$id"
			params={{ org: organizationId, kind, id }}
		>
			{children}
		</TextLink>
	);
}
