import { docs } from "virtual:docs";
import {
	Box,
	Group,
	NavLink,
	type NavLinkProps,
	Paper,
	Select,
	TextInput,
} from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { createLink, useNavigate, useParams } from "@tanstack/react-router";
import {
	type ComponentPropsWithRef,
	useDeferredValue,
	useEffect,
	useState,
} from "react";
import { ErrorState, NotFoundPage } from "../../parts/error-state.tsx";
import { LinkContext, Markdown } from "../../parts/markdown/markdown.tsx";
import { readDocument } from "../../parts/markdown/tokens.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { FoundSections } from "./found-sections.tsx";
import { Linked } from "./linked.tsx";

const PageLink = createLink(
	(
		props: NavLinkProps & Omit<ComponentPropsWithRef<"a">, keyof NavLinkProps>,
	) => <NavLink component="a" {...props} />,
);

/** Shows a document of the folder docs, as it was when this version of the console was built. */
export function Page() {
	const { page } = useParams({ from: "/signed-in/help/$page" });
	const navigate = useNavigate();
	const [words, setWords] = useState("");
	// Typing stays fast while the sections of the last words are looked for.
	const wanted = useDeferredValue(words.trim());
	const found = docs.find(({ name }) => name === page);
	const document = useQuery({
		queryKey: ["help", page],
		queryFn: async () => readDocument((await found?.load())?.default ?? ""),
		enabled: found !== undefined,
		staleTime: Number.POSITIVE_INFINITY,
	});
	useEffect(() => {
		const { hash } = window.location;
		if (document.data && hash && wanted === "") {
			window.document
				.getElementById(decodeURIComponent(hash.slice(1)))
				?.scrollIntoView();
		}
	}, [document.data, wanted]);
	if (!found) return <NotFoundPage />;
	return (
		<>
			<PageHeader
				title={found.title}
				description="The documentation of this version"
			/>
			<TextInput
				type="search"
				aria-label="Search the documentation"
				placeholder="Search the documentation"
				leftSection={<IconSearch size={16} aria-hidden />}
				maxLength={200}
				maw={360}
				mb="md"
				value={words}
				onChange={(event) => setWords(event.currentTarget.value)}
			/>
			<Select
				hiddenFrom="md"
				label="Document"
				mb="md"
				data={docs.map(({ name, title }) => ({ value: name, label: title }))}
				value={page}
				onChange={(name) =>
					name && navigate({ to: "/help/$page", params: { page: name } })
				}
				allowDeselect={false}
			/>
			<Group align="flex-start" wrap="nowrap" gap="xl">
				<Box
					component="nav"
					aria-label="Documents"
					visibleFrom="md"
					w={250}
					style={{ flexShrink: 0 }}
				>
					{docs.map(({ name, title }) => (
						<PageLink
							key={name}
							to="/help/$page"
							params={{ page: name }}
							label={title}
							active={name === page}
							{...(name === page ? { "aria-current": "page" as const } : {})}
							py={6}
						/>
					))}
				</Box>
				<Paper withBorder p="lg" miw={0} flex={1} maw={860} component="article">
					{wanted !== "" ? (
						<FoundSections words={wanted} onOpen={() => setWords("")} />
					) : document.isPending ? (
						<RowsSkeleton rows={10} />
					) : document.isError ? (
						<ErrorState error={document.error} onRetry={document.refetch} />
					) : (
						// The page's heading is the title of the document.
						<LinkContext value={Linked}>
							<Markdown
								blocks={document.data.filter(
									(block) => block.type !== "heading" || block.depth > 1,
								)}
							/>
						</LinkContext>
					)}
				</Paper>
			</Group>
		</>
	);
}
