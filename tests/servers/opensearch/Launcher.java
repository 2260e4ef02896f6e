import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.opensearch.Version;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.Node;
import org.opensearch.plugins.PluginInfo;

/** One OpenSearch node from the class path: {@code Launcher HOME DATA PORT [setting=value ...]}. */
public final class Launcher {

    /** The constructor that takes plugins is protected. */
    private static final class NodeWithPlugins extends Node {
        NodeWithPlugins(Environment environment, Collection<PluginInfo> plugins) {
            super(environment, plugins, false);
        }
    }

    public static void main(String[] words) {
        Thread.setDefaultUncaughtExceptionHandler(Launcher::haltOnMissingLibrary);
        try {
            Node node = new NodeWithPlugins(environment(words), plugins());
            Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
            node.start();
            new CountDownLatch(1).await(); // its own threads are daemons
        } catch (Throwable error) {
            error.printStackTrace();
            System.exit(1); // threads of a node that came up half way keep the process alive
        }
    }

    private static Environment environment(String[] words) {
        Path data = Path.of(words[1]);
        Settings.Builder settings = Settings.builder()
            .put("path.home", words[0])
            .put("path.data", data.resolve("indices"))
            .put("path.logs", data.resolve("logs"))
            .put("cluster.name", "esrag-tests")
            .put("node.name", "tests")
            .put("discovery.type", "single-node")
            .put("network.host", "127.0.0.1")
            .put("http.port", words[2])
            .put("transport.port", "0")
            .put("cluster.routing.allocation.disk.threshold_enabled", false); // a full disk makes indices read-only
        for (String word : List.of(words).subList(3, words.length)) {
            String[] pair = word.split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        return new Environment(settings.build(), data.resolve("config"));
    }

    /**
     * All share one class loader, so the first extender of a point finds every provider: a plugin may be
     * extended by one other only, or its providers are registered twice.
     */
    private static List<PluginInfo> plugins() {
        return List.of(
            plugin("transport-netty4", "org.opensearch.transport.Netty4ModulePlugin"),
            plugin("analysis-common", "org.opensearch.analysis.common.CommonAnalysisModulePlugin"),
            plugin("lang-painless", "org.opensearch.painless.PainlessModulePlugin"),
            plugin("mapper-extras", "org.opensearch.index.mapper.MapperExtrasModulePlugin"),
            plugin("parent-join", "org.opensearch.join.ParentJoinModulePlugin"),
            plugin("reindex", "org.opensearch.index.reindex.ReindexModulePlugin"),
            plugin("opensearch-knn", "org.opensearch.knn.plugin.KNNPlugin", "lang-painless"),
            plugin("neural-search", "org.opensearch.neuralsearch.plugin.NeuralSearch", "opensearch-knn"));
    }

    private static PluginInfo plugin(String name, String mainClass, String... extended) {
        String version = Version.CURRENT.toString();
        return new PluginInfo(name, name, version, Version.CURRENT, "21", mainClass, null, List.of(extended), false);
    }

    /** Without this, a thread that misses a native library dies and its request is never answered. */
    private static void haltOnMissingLibrary(Thread thread, Throwable error) {
        error.printStackTrace();
        if (error instanceof LinkageError) {
            System.err.println("there is no native k-NN library here: name the engine lucene in every knn_vector field");
            Runtime.getRuntime().halt(1);
        }
    }

    private static void close(Node node) {
        try {
            node.close();
            node.awaitClose(20, TimeUnit.SECONDS);
        } catch (Exception error) {
            error.printStackTrace();
        }
    }
}
