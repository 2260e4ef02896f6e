import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.FilteringTokenFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.core.FlattenGraphFilter;
import org.apache.lucene.analysis.core.WhitespaceTokenizer;
import org.apache.lucene.analysis.email.UAX29URLEmailTokenizer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.en.PorterStemFilter;
import org.apache.lucene.analysis.miscellaneous.RemoveDuplicatesTokenFilter;
import org.apache.lucene.analysis.miscellaneous.WordDelimiterGraphFilter;
import org.apache.lucene.analysis.pattern.PatternCaptureGroupTokenFilter;
import org.apache.lucene.analysis.pattern.PatternReplaceFilter;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.elasticsearch.Build;
import org.elasticsearch.action.bulk.BulkItemResponse;
import org.elasticsearch.action.bulk.BulkRequest;
import org.elasticsearch.action.bulk.BulkResponse;
import org.elasticsearch.action.delete.DeleteRequest;
import org.elasticsearch.action.search.ClearScrollRequest;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.action.search.SearchScrollRequest;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.action.support.WriteRequest.RefreshPolicy;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.index.analysis.AbstractIndexAnalyzerProvider;
import org.elasticsearch.index.analysis.AbstractTokenFilterFactory;
import org.elasticsearch.index.analysis.AnalyzerProvider;
import org.elasticsearch.index.analysis.PreConfiguredTokenFilter;
import org.elasticsearch.index.analysis.PreConfiguredTokenizer;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;

/**
 * What esrag needs of three modules that are not published as jars: {@code GET /} (rest-root), an analyser and
 * token filters (analysis-common; Lucene's classes, as there) and {@code _delete_by_query} (reindex). The last
 * one's answers are no evidence of the real module's.
 */
public final class StandIns extends Plugin implements ActionPlugin, AnalysisPlugin {

    private ClusterService cluster;

    @Override
    public Collection<?> createComponents(PluginServices services) {
        cluster = services.clusterService();
        return List.of();
    }

    @Override
    public Collection<RestHandler> getRestHandlers(
            RestHandlersServices services, Supplier<DiscoveryNodes> nodes, Predicate<NodeFeature> features) {
        return List.of(new Root(), new DeleteByQuery(features));
    }

    // GET /

    private final class Root extends BaseRestHandler {
        @Override
        public String getName() {
            return "stand_in_root";
        }

        @Override
        public List<Route> routes() {
            return List.of(new Route(RestRequest.Method.GET, "/"), new Route(RestRequest.Method.HEAD, "/"));
        }

        @Override
        protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
            return channel -> channel.sendResponse(new RestResponse(RestStatus.OK, body(channel.newBuilder())));
        }

        private XContentBuilder body(XContentBuilder json) throws IOException {
            json.startObject();
            json.field("name", cluster.getNodeName());
            json.field("cluster_name", cluster.getClusterName().value());
            json.field("cluster_uuid", cluster.state().metadata().clusterUUID());
            json.startObject("version");
            json.field("number", Build.current().version());
            json.field("build_flavor", Build.current().flavor());
            json.endObject();
            json.field("tagline", "You Know, for Search");
            return json.endObject();
        }
    }

    // POST /{index}/_delete_by_query, with the parameters conflicts, refresh and slices (which changes nothing)

    private static final class DeleteByQuery extends BaseRestHandler {
        private final Predicate<NodeFeature> features;

        DeleteByQuery(Predicate<NodeFeature> features) {
            this.features = features;
        }

        @Override
        public String getName() {
            return "stand_in_delete_by_query";
        }

        @Override
        public List<Route> routes() {
            return List.of(new Route(RestRequest.Method.POST, "/{index}/_delete_by_query"));
        }

        @Override
        protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) throws IOException {
            request.param("slices");
            Deletion deletion = new Deletion(
                client, "proceed".equals(request.param("conflicts")), request.paramAsBoolean("refresh", false));
            SearchRequest search = search(request);
            // Not in the network thread: the deletion waits for its searches.
            return channel -> client.threadPool().generic().execute(() -> deletion.answer(channel, search));
        }

        private SearchRequest search(RestRequest request) throws IOException {
            SearchSourceBuilder source = new SearchSourceBuilder();
            try (XContentParser parser = request.contentParser()) {
                source.parseXContent(parser, true, features);
            }
            if (source.query() == null) {
                throw new IllegalArgumentException("query is missing");
            }
            source.size(1000).seqNoAndPrimaryTerm(true).fetchSource(false).sort("_doc");
            SearchRequest search = new SearchRequest(Strings.splitStringByCommaToArray(request.param("index")));
            search.indicesOptions(IndicesOptions.fromRequest(request, search.indicesOptions()));
            return search.source(source).scroll(Deletion.SCROLL);
        }
    }

    /** Deletes what a search finds, unless it has changed since. */
    private static final class Deletion {
        static final TimeValue SCROLL = TimeValue.timeValueMinutes(5);

        private final NodeClient client;
        private final boolean proceed;
        private final boolean refresh;
        private final long began = System.nanoTime();
        private final List<BulkItemResponse.Failure> failures = new ArrayList<>();
        private long total;
        private long deleted;
        private long conflicts;
        private int batches;

        Deletion(NodeClient client, boolean proceed, boolean refresh) {
            this.client = client;
            this.proceed = proceed;
            this.refresh = refresh;
        }

        void answer(RestChannel channel, SearchRequest search) {
            try {
                run(search);
                RestStatus status = failures.isEmpty() ? RestStatus.OK : failures.get(0).getStatus();
                channel.sendResponse(new RestResponse(status, body(channel.newBuilder())));
            } catch (Exception error) {
                fail(channel, error);
            }
        }

        private static void fail(RestChannel channel, Exception error) {
            try {
                channel.sendResponse(new RestResponse(channel, error));
            } catch (IOException second) {
                second.printStackTrace();
            }
        }

        private void run(SearchRequest search) {
            SearchResponse page = client.search(search).actionGet();
            String scroll = page.getScrollId();
            total = page.getHits().getTotalHits().value();
            while (page.getHits().getHits().length > 0 && failures.isEmpty()) {
                delete(page.getHits().getHits());
                page.decRef();
                page = client.searchScroll(new SearchScrollRequest(scroll).scroll(SCROLL)).actionGet();
            }
            page.decRef();
            ClearScrollRequest clear = new ClearScrollRequest();
            clear.addScrollId(scroll);
            client.clearScroll(clear).actionGet();
        }

        private void delete(SearchHit[] hits) {
            BulkRequest bulk = new BulkRequest();
            for (SearchHit hit : hits) {
                bulk.add(new DeleteRequest(hit.getIndex(), hit.getId())
                    .setIfSeqNo(hit.getSeqNo()).setIfPrimaryTerm(hit.getPrimaryTerm()));
            }
            bulk.setRefreshPolicy(refresh ? RefreshPolicy.IMMEDIATE : RefreshPolicy.NONE);
            BulkResponse response = client.bulk(bulk).actionGet();
            batches++;
            response.forEach(this::count);
        }

        private void count(BulkItemResponse item) {
            boolean conflict = item.isFailed() && item.getFailure().getStatus() == RestStatus.CONFLICT;
            deleted += item.isFailed() ? 0 : 1;
            conflicts += conflict ? 1 : 0;
            if (item.isFailed() && !(conflict && proceed)) {
                failures.add(item.getFailure());
            }
        }

        private XContentBuilder body(XContentBuilder json) throws IOException {
            json.startObject();
            json.field("took", (System.nanoTime() - began) / 1_000_000);
            json.field("timed_out", false);
            json.field("total", total);
            json.field("deleted", deleted);
            json.field("batches", batches);
            json.field("version_conflicts", conflicts);
            json.startArray("failures");
            for (BulkItemResponse.Failure failure : failures) {
                json.startObject();
                failure.toXContent(json, ToXContent.EMPTY_PARAMS);
                json.endObject();
            }
            json.endArray();
            return json.endObject();
        }
    }

    // Analysis

    @Override
    public Map<String, AnalysisProvider<AnalyzerProvider<? extends Analyzer>>> getAnalyzers() {
        return Map.of("english", (index, environment, name, settings) -> new AbstractIndexAnalyzerProvider<Analyzer>(name) {
            private final Analyzer english = new EnglishAnalyzer();

            @Override
            public Analyzer get() {
                return english;
            }
        });
    }

    @Override
    public List<PreConfiguredTokenizer> getPreConfiguredTokenizers() {
        return List.of(
            PreConfiguredTokenizer.singleton("whitespace", WhitespaceTokenizer::new),
            PreConfiguredTokenizer.singleton("uax_url_email", UAX29URLEmailTokenizer::new)); // for the index .security
    }

    @Override
    public List<PreConfiguredTokenFilter> getPreConfiguredTokenFilters() {
        return List.of(PreConfiguredTokenFilter.singleton("unique", false, Unique::new)); // for the index .security
    }

    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        Map<String, AnalysisProvider<TokenFilterFactory>> filters = new HashMap<>();
        filters.put("flatten_graph", filter(settings -> FlattenGraphFilter::new));
        filters.put("pattern_capture", filter(StandIns::patternCapture)); // for the index .security
        filters.put("pattern_replace", AnalysisPlugin.requiresAnalysisSettings(filter(StandIns::patternReplace)));
        filters.put("remove_duplicates", filter(settings -> RemoveDuplicatesTokenFilter::new));
        filters.put("stemmer", filter(StandIns::stemmer));
        filters.put("word_delimiter_graph", filter(StandIns::wordDelimiterGraph));
        return filters;
    }

    private static AnalysisProvider<TokenFilterFactory> filter(Function<Settings, UnaryOperator<TokenStream>> make) {
        return (index, environment, name, settings) -> {
            UnaryOperator<TokenStream> filter = make.apply(settings);
            return new AbstractTokenFilterFactory(name) {
                @Override
                public TokenStream create(TokenStream tokens) {
                    return filter.apply(tokens);
                }
            };
        };
    }

    private static UnaryOperator<TokenStream> patternCapture(Settings settings) {
        Pattern[] patterns = settings.getAsList("patterns").stream().map(Pattern::compile).toArray(Pattern[]::new);
        boolean keep = settings.getAsBoolean("preserve_original", true);
        return tokens -> new PatternCaptureGroupTokenFilter(tokens, keep, patterns);
    }

    private static UnaryOperator<TokenStream> patternReplace(Settings settings) {
        Pattern pattern = Pattern.compile(settings.get("pattern"));
        String replacement = settings.get("replacement", "");
        boolean all = settings.getAsBoolean("all", true);
        return tokens -> new PatternReplaceFilter(tokens, pattern, replacement, all);
    }

    private static UnaryOperator<TokenStream> stemmer(Settings settings) {
        String language = settings.get("language", settings.get("name", "english"));
        if (!language.equals("english")) {
            throw new IllegalArgumentException("this stemmer knows [english] only, not [" + language + "]");
        }
        return PorterStemFilter::new;
    }

    private static UnaryOperator<TokenStream> wordDelimiterGraph(Settings settings) {
        if (settings.hasValue("type_table") || settings.hasValue("protected_words")) {
            throw new IllegalArgumentException("this word_delimiter_graph takes neither [type_table] nor [protected_words]");
        }
        int flags = flag(settings, "generate_word_parts", true, WordDelimiterGraphFilter.GENERATE_WORD_PARTS)
            | flag(settings, "generate_number_parts", true, WordDelimiterGraphFilter.GENERATE_NUMBER_PARTS)
            | flag(settings, "catenate_words", false, WordDelimiterGraphFilter.CATENATE_WORDS)
            | flag(settings, "catenate_numbers", false, WordDelimiterGraphFilter.CATENATE_NUMBERS)
            | flag(settings, "catenate_all", false, WordDelimiterGraphFilter.CATENATE_ALL)
            | flag(settings, "preserve_original", false, WordDelimiterGraphFilter.PRESERVE_ORIGINAL)
            | flag(settings, "split_on_case_change", true, WordDelimiterGraphFilter.SPLIT_ON_CASE_CHANGE)
            | flag(settings, "split_on_numerics", true, WordDelimiterGraphFilter.SPLIT_ON_NUMERICS)
            | flag(settings, "stem_english_possessive", true, WordDelimiterGraphFilter.STEM_ENGLISH_POSSESSIVE);
        return tokens -> new WordDelimiterGraphFilter(tokens, flags, null);
    }

    private static int flag(Settings settings, String name, boolean preset, int bit) {
        return settings.getAsBoolean(name, preset) ? bit : 0;
    }

    /** Lets each term through once. */
    private static final class Unique extends FilteringTokenFilter {
        private final CharTermAttribute term = addAttribute(CharTermAttribute.class);
        private final Set<String> seen = new HashSet<>();

        Unique(TokenStream tokens) {
            super(tokens);
        }

        @Override
        protected boolean accept() {
            return seen.add(term.toString());
        }

        @Override
        public void reset() throws IOException {
            super.reset();
            seen.clear();
        }
    }
}
